/// Reads the answer to a pull from pieces of any size. Its batches are passed on, and its last frame is the
/// result.
package struct PullAnswer {
    private let peer: String
    private var stream: FrameStream
    private var end: PullEnd?

    /// - Parameter peer: Its name, for errors.
    package init(peer: String, limits: Limits) {
        self.peer = peer
        stream = FrameStream(limits: limits)
    }

    /// Takes the next piece.
    ///
    /// - Throws: ``SyncError`` for bytes that are not an answer to a pull, and what `onFrame` throws.
    package mutating func take(
        _ piece: some Collection<UInt8>, onFrame: @Sendable (Frame) async throws -> Void
    ) async throws {
        stream.append(piece)
        while let frame = try await stream.next() {
            switch frame.body {
            case .batch: try await onFrame(frame)
            case .end(let vector, let more, let heldBack):
                end = PullEnd(vector: vector, more: more, heldBack: heldBack)
            case .open: throw SyncError(.invalid, "\(peer) answered a pull with a push")
            }
        }
    }

    /// Returns how the pull ended. Call it after the last piece.
    ///
    /// - Throws: ``SyncError/Code/truncated`` when the answer was cut off.
    package func finish() throws(SyncError) -> PullEnd {
        try stream.finish()
        guard let end else { throw SyncError(.truncated, "\(peer) did not finish its answer") }
        return end
    }
}

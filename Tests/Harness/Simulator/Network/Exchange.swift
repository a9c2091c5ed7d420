import Sync

/// One request and its answer, as bytes.
///
/// Unchecked: see ``Scheduler``.
final class Exchange: @unchecked Sendable {
    enum Piece: Sendable {
        case head(status: Int)
        case body([UInt8])
    }

    let number: Int
    let path: String
    let from: Int
    let to: Int

    /// The bytes for the caller. The stream ends, or throws when the connection broke.
    let answer: AsyncThrowingStream<Piece, any Error>
    private let answerEnd: AsyncThrowingStream<Piece, any Error>.Continuation

    /// The bytes for the server. The stream throws when the connection broke before the body's end.
    let request: AsyncThrowingStream<[UInt8], any Error>
    private let requestEnd: AsyncThrowingStream<[UInt8], any Error>.Continuation

    /// The server's task, which ends with the connection.
    var work: Task<Void, Never>?
    private(set) var isClosed = false
    /// The pieces of the answer that the server wrote.
    var pieces = 0
    private(set) var whenClosed: () -> Void = {}

    init(number: Int, path: String, from: Int, to: Int) {
        self.number = number
        self.path = path
        self.from = from
        self.to = to
        (answer, answerEnd) = AsyncThrowingStream.makeStream(of: Piece.self)
        (request, requestEnd) = AsyncThrowingStream.makeStream(of: [UInt8].self)
    }

    func onClose(_ body: @escaping () -> Void) { whenClosed = body }

    func deliver(request bytes: [UInt8]) { requestEnd.yield(bytes) }
    func finishRequest() { requestEnd.finish() }
    func deliver(_ piece: Piece) { if !isClosed { answerEnd.yield(piece) } }

    /// Ends the exchange after the caller has the whole answer.
    func finish() { close(throwing: nil) }

    /// Breaks the connection, for both sides.
    func fail(_ error: SyncError) { close(throwing: error) }

    private func close(throwing error: SyncError?) {
        guard !isClosed else { return }
        isClosed = true
        if let error { answerEnd.finish(throwing: error) } else { answerEnd.finish() }
        requestEnd.finish(throwing: SyncError(.unreachable, "the caller went away"))
        work?.cancel()
        whenClosed()
    }
}

/// Splits a stream of bytes, which arrives in pieces of any size, into frames.
///
/// Memory is at most one frame and one piece. After an error, and after the frame that ends the stream,
/// nothing more is accepted.
public struct FrameParser: Sendable {
    private let limits: Limits
    private var buffer: [UInt8] = []

    /// Where the next frame begins in ``buffer``.
    private var start = 0
    private var failure: WireError?

    /// True once the frame that ends the stream was returned.
    public private(set) var isFinished = false

    /// Creates a parser at the beginning of a stream. Only the limits of frames are used.
    public init(limits: Limits) { self.limits = limits }

    /// Takes the next piece of the stream; ``next()`` then returns the frames that it completes.
    public mutating func append(_ piece: some Collection<UInt8>) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer.append(contentsOf: piece)
    }

    /// Returns the next complete frame; nil when more bytes are needed.
    ///
    /// - Throws: ``WireError``, and the same again at every later call: the stream cannot be continued.
    public mutating func next() throws(WireError) -> Frame? {
        if let failure { throw failure }
        do {
            return try parse()
        } catch {
            failure = error
            buffer = []
            start = 0
            throw error
        }
    }

    /// Checks that the stream is complete. Call it after the last piece.
    ///
    /// - Throws: ``WireError/Code/truncated`` when the stream was cut off before its end.
    public func finish() throws(WireError) {
        if let failure { throw failure }
        guard isFinished else { throw WireError(.truncated, "the stream ends before its last frame") }
    }

    private mutating func parse() throws(WireError) -> Frame? {
        let available = buffer[start...]
        guard !available.isEmpty else { return nil }
        guard !isFinished else { throw .malformed("bytes after the last frame") }
        guard available.starts(with: Frame.magic.prefix(available.count)) else {
            throw .malformed("this is not a stream of frames")
        }
        guard available.count >= Frame.prefixBytes else { return nil }
        let headerSize = Int(UInt32(bigEndian: available.dropFirst(4).prefix(4)))
        let payloadSize = Int(UInt32(bigEndian: available.dropFirst(8).prefix(4)))
        // Checked before the bytes have arrived, so that a size beyond the limits never fills memory.
        guard headerSize <= limits.frameHeaderBytes else { throw .tooLarge("a frame header of \(headerSize) bytes") }
        guard payloadSize <= limits.framePayloadBytes else { throw .tooLarge("a frame of \(payloadSize) bytes") }
        let size = Frame.prefixBytes + headerSize + payloadSize + Frame.checksumBytes
        guard available.count >= size else { return nil }
        let frame = try Frame(available.prefix(size), headerSize: headerSize, limits: limits)
        start += size
        if case .end = frame.body { isFinished = true }
        return frame
    }
}

/// Splits a stream of bytes, which arrives in pieces of any size, into frames.
///
/// Memory is at most one frame and one piece. After an error, and after the frame that ends the stream,
/// nothing more is accepted.
public struct FrameParser: Sendable {
    private let limits: Limits
    private var buffer: [UInt8] = []

    /// The bytes of the stream so far, and of them those of the largest frame.
    private var received = 0
    private var largest = 0

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
        received += piece.count
    }

    /// Returns the next complete frame; nil when more bytes are needed.
    ///
    /// - Throws: ``WireError``, and the same again at every later call: the stream cannot be continued.
    public mutating func next() throws(WireError) -> Frame? {
        var lacking: Int?
        return try next(lacking: &lacking)
    }

    /// What comes next in a stream, for a caller that takes memory for large frames first.
    enum Step {
        case frame(Frame)
        /// The next frame has so many bytes, before or after decompression: more than are taken.
        case large(bytes: Int)
        /// More bytes are needed.
        case incomplete
    }

    /// As ``next()``, for frames of at most so many bytes.
    mutating func next(ofAtMost most: Int) throws(WireError) -> Step {
        var lacking: Int? = most
        if let frame = try next(lacking: &lacking) { return .frame(frame) }
        return lacking.flatMap { $0 > most ? .large(bytes: $0) : nil } ?? .incomplete
    }

    /// Takes memory for a frame of so many bytes at once, and not in growing pieces.
    mutating func reserve(_ bytes: Int) { buffer.reserveCapacity(start + bytes + limits.frameHeaderBytes) }

    /// - Parameter lacking: The size of the largest frame that is taken; nil for any. Afterwards that of the next
    ///   frame, if it is larger.
    private mutating func next(lacking: inout Int?) throws(WireError) -> Frame? {
        if let failure { throw failure }
        do {
            guard let (body, payload) = try parse(&lacking) else { return nil }
            return Frame(body: body, payload: take(payload))
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

    /// - Returns: What the next frame is, and where its payload is in the buffer; nil when it is not whole, or too
    ///   large.
    private mutating func parse(_ lacking: inout Int?) throws(WireError) -> (Frame.Body, payload: Range<Int>)? {
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
        if payloadSize > limits.largeFrameBytes { largest = max(largest, payloadSize) }
        guard received - largest <= limits.streamBodyBytes else {
            throw .tooLarge("a stream of more than \(limits.streamBodyBytes) bytes")
        }
        if let most = lacking, payloadSize > most {
            lacking = payloadSize
            return nil
        }
        let size = Frame.prefixBytes + headerSize + payloadSize + Frame.checksumBytes
        guard available.count >= size else { return nil }
        let body = try Frame.Body(available.prefix(size), headerSize: headerSize, limits: limits)
        // A small payload may expand to a large batch.
        if let most = lacking, case .batch(_, _, let rawSize) = body, rawSize > most {
            lacking = rawSize
            return nil
        }
        if case .end = body { isFinished = true }
        let offset = start + Frame.prefixBytes + headerSize
        return (body, offset..<offset + payloadSize)
    }

    /// Takes the payload of the first frame out of the buffer, with the frame. A large one is not copied.
    private mutating func take(_ payload: Range<Int>) -> [UInt8] {
        let end = payload.upperBound + Frame.checksumBytes
        guard payload.count > limits.largeFrameBytes else {
            start = end
            return Array(buffer[payload])
        }
        let rest = Array(buffer[end...])
        buffer.removeLast(buffer.count - payload.upperBound)
        buffer.removeFirst(payload.lowerBound)
        start = 0
        defer { buffer = rest }
        return buffer
    }
}

import Journal

/// The frames of one stream of bytes from a peer. Memory for a large frame is taken in turns.
package struct FrameStream {
    private let limits: Limits
    private let budget: MemoryBudget
    private var parser: FrameParser
    /// For the large frame that has begun, or was the last one.
    private var reservation: MemoryBudget.Reservation?
    /// True when ``reservation`` is that of the frame that was returned last.
    private var isServed = false

    package init(limits: Limits, budget: MemoryBudget = .receiving) {
        self.limits = limits
        self.budget = budget
        parser = FrameParser(limits: limits)
    }

    /// As ``FrameParser/append(_:)``.
    package mutating func append(_ piece: some Collection<UInt8>) { parser.append(piece) }

    /// As ``FrameParser/next()``; waits before it takes memory for a large frame. The memory counts as used until
    /// the next call.
    ///
    /// - Throws: ``SyncError`` for what is not a stream of frames; `CancellationError` when the task is cancelled.
    package mutating func next() async throws -> Frame? {
        if isServed {
            reservation = nil
            isServed = false
        }
        while true {
            switch try step() {
            case .frame(let frame):
                isServed = true
                return frame
            case .incomplete: return nil
            case .large(let bytes):
                reservation = try await budget.reserve(bytes)
                parser.reserve(bytes)
            }
        }
    }

    /// As ``FrameParser/finish()``.
    func finish() throws(SyncError) {
        do { try parser.finish() } catch { throw SyncError(error) }
    }

    private mutating func step() throws(SyncError) -> FrameParser.Step {
        do { return try parser.next(ofAtMost: reservation == nil ? limits.largeFrameBytes : .max) } catch {
            throw SyncError(error)
        }
    }
}

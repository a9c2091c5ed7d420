import Journal

/// The answer to one push. It begins before its end is known when the push takes long to apply.
///
/// A caller gives up on a peer that stays silent for ``Limits/lowSpeedSeconds``, but a peer may need longer for one
/// transaction: rows that conflict are merged one by one, and disks are slow. So while a push is applied, the answer
/// says from time to time that it is.
package struct PushAnswer: Sendable {
    private enum Event: Sendable { case ended, silence }

    private let work: Task<PushReply, any Error>
    private let events: AsyncStream<Event>
    private let signals: AsyncStream<Event>.Continuation
    private let limits: Limits
    private let clock: any SyncClock

    /// - Parameters:
    ///   - limits: Of these, ``Limits/silentAnswerMilliseconds`` and ``Limits/lowSpeedBytesPerSecond`` count.
    ///   - take: Takes the body of the push. It begins at once, in a task of its own, and has ended when a method throws.
    package init(limits: Limits, clock: any SyncClock, take: @escaping @Sendable () async throws -> PushReply) {
        let (events, signals) = AsyncStream.makeStream(of: Event.self)
        (self.events, self.signals, self.limits, self.clock) = (events, signals, limits, clock)
        work = Task {
            defer { signals.yield(.ended) }
            return try await take()
        }
    }

    /// Returns the whole answer if it does not take long.
    ///
    /// - Returns: nil when it does; then ``write(refusal:to:)`` gives it.
    /// - Throws: What `take` throws; `CancellationError`.
    package func whole() async throws -> [UInt8]? { try await isEnded() ? bodies.encode(await work.value) : nil }

    /// Passes on the answer in pieces, until the push is applied or has failed.
    ///
    /// - Parameters:
    ///   - refusal: What the answer would have been if it had not begun; nil to end it before its end.
    ///   - write: Gets the pieces.
    /// - Throws: What `write` throws: nobody waits for the answer then, and the push ends. `CancellationError`, and an
    ///   error without a refusal.
    package func write(
        refusal: (any Error) -> PushReply.Refusal?, to write: ([UInt8]) async throws -> Void
    ) async throws {
        // So many that no caller takes the pieces for silence.
        let bytes = max(64, limits.lowSpeedBytesPerSecond * Int(clamping: limits.silentAnswerMilliseconds / 250))
        do {
            repeat { try await write(PushReply.waiting(bytes: bytes)) } while try await !isEnded()
        } catch {
            await stop()
            throw error
        }
        var reply = PushReply(vector: VersionVector(), applied: 0)
        do {
            reply = try await work.value
        } catch {
            reply.refusal = refusal(error)
            guard reply.refusal != nil else { throw error }
        }
        try await write(bodies.encode(reply))
    }

    private var bodies: WireBodies { WireBodies(limits: limits) }

    /// Waits for the end of the work, but not for longer than an answer may be silent.
    private func isEnded() async throws -> Bool {
        let timer = Task { [clock, limits, signals] in
            try await clock.sleep(milliseconds: limits.silentAnswerMilliseconds)
            signals.yield(.silence)
        }
        defer { timer.cancel() }
        var iterator = events.makeAsyncIterator()
        // There is no further event for a task that is cancelled.
        guard let event = await iterator.next() else {
            await stop()
            throw CancellationError()
        }
        return event == .ended
    }

    private func stop() async {
        work.cancel()
        _ = await work.result
    }
}

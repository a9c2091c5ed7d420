import Sync

/// The two clocks of one machine in virtual time: a wall clock that may be wrong, and a steady clock that may
/// only run too fast or too slow.
///
/// Unchecked: see ``Scheduler``.
final class MachineClock: SyncClock, @unchecked Sendable {
    private let scheduler: Scheduler
    /// Parts per million by which this clock runs too fast.
    let drift: Int64
    private var offset: Int64
    /// The time at which the wall clock stopped; nil when it runs.
    private var frozen: Int64?

    /// - Parameter start: The wall clock at the start of the scenario, in milliseconds since 1970.
    init(_ scheduler: Scheduler, start: Int64, drift: Int64) {
        self.scheduler = scheduler
        self.drift = drift
        offset = start
    }

    func steadyMilliseconds() -> Int64 { scheduler.now + scheduler.now * drift / 1_000_000 }

    func wallMilliseconds() -> Int64 { max(0, frozen ?? offset + steadyMilliseconds()) }

    func jump(by milliseconds: Int64) {
        offset += milliseconds
        if let time = frozen { frozen = time + milliseconds }
    }

    func set(wall milliseconds: Int64) {
        frozen = nil
        offset = milliseconds - steadyMilliseconds()
    }

    func stop() { frozen = wallMilliseconds() }

    /// Lets a stopped clock run on from its time.
    func goOn() { if let time = frozen { set(wall: time) } }

    func sleep(milliseconds: Int64) async throws {
        // The time is rounded up, so that a sleep is over by the same clock when it ends.
        let rate = 1_000_000 + drift
        let virtual = drift == 0 ? milliseconds : (milliseconds * 1_000_000 + rate - 1) / rate + 1
        let timer = Timer(scheduler, milliseconds: virtual)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { timer.start($0) }
        } onCancel: {
            timer.cancel()
        }
    }
}

/// One sleep.
///
/// Unchecked: see ``Scheduler``.
private final class Timer: @unchecked Sendable {
    private let scheduler: Scheduler
    private let milliseconds: Int64
    private var waiting: (continuation: CheckedContinuation<Void, any Error>, event: EventID)?
    private var isCancelled = false

    init(_ scheduler: Scheduler, milliseconds: Int64) {
        self.scheduler = scheduler
        self.milliseconds = milliseconds
    }

    func start(_ continuation: CheckedContinuation<Void, any Error>) {
        guard !isCancelled else { return continuation.resume(throwing: CancellationError()) }
        let event = scheduler.after(milliseconds) { [self] in
            guard let waiting else { return }
            self.waiting = nil
            waiting.continuation.resume()
        }
        waiting = (continuation, event)
    }

    func cancel() {
        isCancelled = true
        guard let waiting else { return }
        self.waiting = nil
        scheduler.cancel(waiting.event)
        waiting.continuation.resume(throwing: CancellationError())
    }
}

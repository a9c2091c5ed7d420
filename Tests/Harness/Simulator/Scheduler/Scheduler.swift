import Foundation
import Synchronization
import TestSupport

/// The single thread of a scenario: events in the order of virtual time, and the tasks that they start.
///
/// Unchecked: everything in a scenario runs on the thread that made the scheduler; ``enqueue(_:on:)`` checks it.
final class Scheduler: @unchecked Sendable {
    /// Milliseconds since the scenario began.
    private(set) var now: Int64 = 0
    private(set) var executed = 0

    /// The number of events at the current time.
    private var atOnce = 0
    private var events = EventQueue()
    private var ready: [(job: UnownedJob, executor: ProcessExecutor)] = []
    private var random: SplitMix
    /// True to run ready tasks in a random order, as several threads would.
    private let shufflesTasks: Bool

    private let thread = pthread_self()
    private let strayed = Atomic(false)

    /// Called after each event, once no task can run: the moment of the checks.
    var whenQuiet: () throws -> Void = {}

    init(random: SplitMix, shufflesTasks: Bool) {
        self.random = random
        self.shufflesTasks = shufflesTasks
    }

    /// Performs `action` after `delay` milliseconds, 0 or more. A draw orders events of one time.
    @discardableResult
    func after(_ delay: Int64, _ action: @escaping () -> Void) -> EventID {
        events.add(time: now + max(0, delay), tie: random.next(), action)
    }

    func cancel(_ event: EventID) { events.cancel(event) }

    /// A task that was started outside of the executors, a detached one for instance, resumes others from its own
    /// thread. The order of a scenario then depends on real time, and its memory is shared without a lock.
    func enqueue(_ job: UnownedJob, on executor: ProcessExecutor) {
        guard pthread_equal(pthread_self(), thread) != 0 else { return strayed.store(true, ordering: .relaxed) }
        ready.append((job, executor))
    }

    /// Runs until virtual time would pass `end`, or until there is no event.
    func run(until end: Int64) throws {
        try settle()
        while let time = events.nextTime, time <= end {
            guard let action = events.pop() else { break }
            atOnce = time > now ? 0 : atOnce + 1
            guard atOnce < 20_000 else { throw Violation("P21", "20 000 events, and no time passes") }
            now = max(now, time)
            executed += 1
            action()
            try settle()
        }
        now = max(now, end)
    }

    /// Ends the scenario: removes all later events, and what they keep alive.
    func end() {
        drain()
        events = EventQueue()
    }

    private func settle() throws {
        drain()
        guard !strayed.load(ordering: .relaxed) else {
            throw Violation(
                "determinism", "a task ran outside of the scenario's thread: it was begun without an executor")
        }
        try whenQuiet()
    }

    /// Runs tasks until none can run.
    ///
    /// - Parameter executor: The process whose tasks run; nil for all.
    func drain(_ executor: ProcessExecutor? = nil) {
        while true {
            let index: Int
            if let executor {
                guard let found = ready.firstIndex(where: { $0.executor === executor }) else { return }
                index = found
            } else {
                guard !ready.isEmpty else { return }
                index = shufflesTasks && ready.count > 1 ? random.below(ready.count) : 0
            }
            let (job, executor) = ready.remove(at: index)
            executor.willRun()
            job.runSynchronously(on: executor.asUnownedTaskExecutor())
            executor.didRun()
        }
    }
}

/// Events in the order of time; a draw orders those of one time.
private struct EventQueue {
    private struct Event {
        let time: Int64
        let tie: UInt64
        let id: EventID
        let action: () -> Void

        static func < (a: Event, b: Event) -> Bool { (a.time, a.tie, a.id.number) < (b.time, b.tie, b.id.number) }
    }

    private var heap: [Event] = []
    private var last = 0
    private var cancelled: Set<Int> = []

    mutating func add(time: Int64, tie: UInt64, _ action: @escaping () -> Void) -> EventID {
        last += 1
        let id = EventID(number: last)
        heap.append(Event(time: time, tie: tie, id: id, action: action))
        var child = heap.count - 1
        while child > 0, heap[child] < heap[(child - 1) / 2] {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
        return id
    }

    /// Cancels an event. An event is cancelled at most once, and only before it happened.
    mutating func cancel(_ id: EventID) { cancelled.insert(id.number) }

    var nextTime: Int64? {
        mutating get {
            while let first = heap.first, cancelled.remove(first.id.number) != nil { removeFirst() }
            return heap.first?.time
        }
    }

    mutating func pop() -> (() -> Void)? {
        guard nextTime != nil, let first = heap.first else { return nil }
        removeFirst()
        return first.action
    }

    private mutating func removeFirst() {
        let last = heap.removeLast()
        guard !heap.isEmpty else { return }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child] < heap[least] {
                least = child
            }
            if least == parent { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}

/// An event that has not happened yet.
struct EventID {
    fileprivate let number: Int
}

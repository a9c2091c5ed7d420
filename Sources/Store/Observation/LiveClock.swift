import Synchronization

/// The positions and counters that order commits, reads and registrations.
///
/// - `announced`: the journal position up to which changes are being handled or have been handled.
/// - `applied`: the position up to which they have been handled; never above `announced`.
/// - `announcedNotices`, `appliedNotices`: the same for visibility notices, which have numbers of their own.
/// - `epoch`: the number of writes begun. `writer` is the number of the running write, and 0 when none runs.
final class LiveClock: Sendable {
    let announced = Atomic<Int64>(0)
    let applied = Atomic<Int64>(0)
    let announcedNotices = Atomic<Int64>(0)
    let appliedNotices = Atomic<Int64>(0)
    let epoch = Atomic<Int>(0)
    let writer = Atomic<Int>(0)

    func announce(_ position: Int64) { announced.max(position, ordering: .sequentiallyConsistent) }
    func apply(_ position: Int64) { applied.max(position, ordering: .sequentiallyConsistent) }

    func announceNotices(_ id: Int64) { announcedNotices.max(id, ordering: .sequentiallyConsistent) }
    func applyNotices(_ id: Int64) { appliedNotices.max(id, ordering: .sequentiallyConsistent) }

    /// Begins a write and returns its number.
    func beginWrite() -> Int {
        let number = epoch.add(1, ordering: .sequentiallyConsistent).newValue
        writer.store(number, ordering: .sequentiallyConsistent)
        return number
    }

    /// Ends the write, unless the next one has begun already.
    func endWrite(_ number: Int) {
        _ = writer.compareExchange(expected: number, desired: 0, ordering: .sequentiallyConsistent)
    }
}

import Synchronization

/// The positions and counters that order commits, reads and registrations.
///
/// - `announced`: the journal position up to which changes are being handled or have been handled.
/// - `applied`: the position up to which they have been handled.
/// - `announcedNotices`, `appliedNotices`: the same for visibility notices, which have numbers of their own.
/// - `epoch`: the number of writes begun. `writer` is the number of the running write, and 0 when none runs.
///
/// ``LivePipeline`` shows the order in which a reader and a writer use them.
///
/// Invariants, checked in debug builds (``checkInvariants()``):
/// 1. `applied` is not above `announced`.
/// 2. `appliedNotices` is not above `announcedNotices`.
/// 3. `writer` is not above `epoch`.
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
    // MARK: - Invariants

    /// Stops a debug build when one of the invariants does not hold. A release build does nothing.
    func checkInvariants() { assert(invariantViolation() == nil, invariantViolation() ?? "") }

    /// Returns the first of the numbered invariants that does not hold, in words; nil when all of them hold.
    ///
    /// Any thread may call it: of each two numbers it reads the one first that must not be greater. Both only
    /// grow, except that `writer` returns to 0.
    func invariantViolation() -> String? {
        let applied = applied.load(ordering: .sequentiallyConsistent)
        let announced = announced.load(ordering: .sequentiallyConsistent)
        if applied > announced { return "1: position \(applied) is applied, and \(announced) is announced" }
        let appliedNotices = appliedNotices.load(ordering: .sequentiallyConsistent)
        let announcedNotices = announcedNotices.load(ordering: .sequentiallyConsistent)
        if appliedNotices > announcedNotices {
            return "2: notice \(appliedNotices) is applied, and \(announcedNotices) is announced"
        }
        let writer = writer.load(ordering: .sequentiallyConsistent)
        let epoch = epoch.load(ordering: .sequentiallyConsistent)
        return writer > epoch ? "3: write \(writer) runs, and \(epoch) have begun" : nil
    }
}

import Journal

/// A snapshot of which is known what it has, and when it was written by some clock.
protocol DatedSnapshot {
    /// The changes that it has.
    var vector: VersionVector { get }

    /// A total order, by the time at which both were written.
    func isDatedBefore(_ other: Self) -> Bool
}

/// Which of an archive's snapshots are newer. Pure.
///
/// One that has all that another one has, and more, is newer. Dates decide only between others: the clock of a store or
/// of a machine may be wrong for a while, and what was written then must not stay the newest for as long as it was wrong.
enum SnapshotOrder {
    /// The newest one; nil without any.
    static func newest<S: DatedSnapshot>(_ snapshots: [S]) -> S? {
        guard var newest = snapshots.max(by: { $0.isDatedBefore($1) }) else { return nil }
        // Each step has more than the one before, so this ends.
        while let newer = snapshots.filter({ $0.vector != newest.vector && $0.vector.covers(newest.vector) })
            .max(by: { $0.isDatedBefore($1) })
        {
            newest = newer
        }
        return newest
    }

    /// All of them, the oldest first.
    static func sorted<S: DatedSnapshot & Equatable>(_ snapshots: [S]) -> [S] {
        var (rest, newestFirst) = (snapshots, [S]())
        while let newest = newest(rest) {
            rest.removeAll { $0 == newest }
            newestFirst.append(newest)
        }
        return newestFirst.reversed()
    }
}

/// The order that decides which of two writes is later: by stamp, and by origin when the stamps are equal.
///
/// It is the timestamp of a last-writer-wins register (Thomas 1979; RFC 677). It is a total order over all
/// writes of a column, because the stamps of one origin increase strictly.
///
/// What a migration did to a row that it found is a continuation of the write that it found, not a write of its
/// own time: it has that write's stamp and a greater level (``MigrationRank``). So it is later than all that its
/// writer had seen, and earlier than every write of a user that is later than what it found.
package struct WriteOrder: Hashable, Comparable, Sendable {
    /// The stamp of the change, by its writer's hybrid logical clock; of a migration's change, the stamp of what
    /// it found.
    package var stamp: Stamp
    /// The replica that wrote the change.
    package var origin: OriginID
    /// 0 for a user's change; as ``MigrationRank/level`` for a migration's.
    package var level: Int64

    package init(stamp: Stamp, origin: OriginID, level: Int64 = 0) {
        self.stamp = stamp
        self.origin = origin
        self.level = level
    }

    /// The order of a change.
    ///
    /// - Parameters:
    ///   - stamp: When it was written.
    ///   - migration: What it has of a migration; nil for a user's change.
    package init(stamp: Stamp, origin: OriginID, migration: MigrationRank?) {
        self.init(stamp: migration?.stamp ?? stamp, origin: origin, level: migration?.level ?? 0)
    }

    /// Less than every write. It is the order of values whose writes the journal does not have.
    package static let eldest = WriteOrder(stamp: .zero, origin: OriginID(high: 0, low: 1))

    package static func < (a: WriteOrder, b: WriteOrder) -> Bool {
        (a.stamp, a.level, a.origin) < (b.stamp, b.level, b.origin)
    }
}

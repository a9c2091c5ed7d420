/// What makes an update a migration's: which migration it is part of, and after which write it counts.
///
/// A migration rewrites rows that it finds. Its update counts directly after the latest write of the same columns
/// that it found, whenever it ran. So a user's write that it could not see wins, whether that was made before the
/// migration ran or after it (docs/decisions/0051-kinds-of-changes.md).
///
/// A class, because very few changes have one, and every ``Change`` has room for it.
public final class MigrationRank: Hashable, Sendable {
    /// The name by which a program tells its migrations apart. Runs of one name on several machines are one
    /// change.
    public let name: String
    /// The stamp of the latest write of the columns that the migration found; ``Stamp/zero`` for none.
    public let stamp: Stamp
    /// How many updates by migrations the row has had with this one, 1 or more. Of two updates that found the
    /// same write, the one with the greater level had found the other, as a rule.
    public let level: Int64

    /// - Parameters:
    ///   - name: Not empty.
    ///   - stamp: Of the latest write that the migration found.
    ///   - level: 1 or more.
    public init(name: String, stamp: Stamp, level: Int64) {
        self.name = name
        self.stamp = stamp
        self.level = level
    }

    public static func == (a: MigrationRank, b: MigrationRank) -> Bool {
        a.level == b.level && a.stamp == b.stamp && a.name == b.name
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(level)
        hasher.combine(stamp)
    }
}

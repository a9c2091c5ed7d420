/// The column `tx` of a row of `_journal`: what is to be said of the place after the row.
///
/// A trigger that runs before an insert cannot write the row that the insert will get, so it leaves its mark
/// on the row before. A writer that marks the end of its transaction drops such a mark: its insert was
/// refused.
struct JournalMark: Hashable {
    let rawValue: Int64

    /// - Parameter rawValue: What the column holds; 0 for NULL.
    init(rawValue: Int64) { self.rawValue = rawValue }

    init(endsTransaction: Bool, mintedShape: Int64? = nil) {
        rawValue = (endsTransaction ? 1 : 0) | (mintedShape ?? 0) << 1
    }

    /// True when the row is the last one of a transaction.
    var endsTransaction: Bool { rawValue & 1 == 1 }

    /// The shape of the next row, if that is an insert whose key SQLite chose; nil when no such insert
    /// follows. The next row is another one when the insert was refused, or when a trigger of the program
    /// wrote first.
    var mintedShape: Int64? { rawValue >> 1 > 0 ? rawValue >> 1 : nil }

    /// SQL statements that mark the newest row: an insert of the shape with the id `shape` follows, and
    /// SQLite chooses its key. The mark of the first row of all stands in `_journal_replica`.
    static func minted(shape: Int64) -> [String] {
        [
            "UPDATE \(JournalSchema.prefix) SET tx = coalesce(tx, 0) & 1 | \(shape << 1) "
                + "WHERE seq = (SELECT max(seq) FROM \(JournalSchema.prefix))",
            "UPDATE \(JournalSchema.prefix)_replica SET minted = \(shape) "
                + "WHERE NOT EXISTS (SELECT 1 FROM \(JournalSchema.prefix))",
        ]
    }
}

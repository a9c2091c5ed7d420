import Foundation
import GRDB

/// What a replica may tell others that it has merged: a version vector without the changes that its rows have
/// never shown.
///
/// Whoever writes here later has seen everything in it. A change of a table or column that this file lacks
/// was not seen: once a migration adds the column, rows are written that contradict it, and both versions
/// must still be found. So such a change, and everything after it of its origin, is left out. What rows showed
/// before their table or a column of it was dropped counts as seen.
package struct ShownKnowledge: Sendable {
    /// The shapes whose entries rows could not show when the value was last read.
    private var shapes: Set<Int64> = []
    /// Up to which position the journal was read for them.
    private var position: Int64 = 0
    /// The first version of each origin that rows cannot show, by the origin's number.
    private var firstHidden: [Int64: Int64] = [:]

    /// Creates a value that has read nothing.
    package init() {}

    /// Reads what is new in the journal.
    ///
    /// - Returns: The vector of the snapshot of `db`, without what rows cannot show.
    /// - Throws: ``JournalError/Code/corrupt`` for a damaged journal; errors of SQLite. This value is then
    ///   unchanged.
    package mutating func read(_ db: Database) throws -> VersionVector {
        let reader = try JournalReader(db)
        let hidden = ShownKnowledge.hiddenShapes(reader.registry)
        var next = self
        if hidden != shapes { next = ShownKnowledge() }
        next.shapes = hidden
        if !hidden.isEmpty {
            let list = hidden.sorted().map(String.init).joined(separator: ", ")
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT j.origin, min(j.version) AS version FROM _journal AS j JOIN _journal_tables AS t USING (shape)
                    WHERE j.seq > max(?, ifnull(t.dropped, 0), ifnull(t.gone, 0)) AND j.origin IS NOT NULL
                      AND j.shape IN (\(list)) GROUP BY j.origin
                    """, arguments: [next.position])
            while let row = try rows.next() {
                let number: Int64 = row["origin"]
                next.firstHidden[number] = min(next.firstHidden[number] ?? .max, row["version"])
            }
            next.position = reader.lastSeq
        }
        self = next
        guard !firstHidden.isEmpty else { return reader.vector() }
        return VersionVector(
            reader.vector().entries.compactMap { entry in
                guard let number = reader.origins.numbers[entry.origin], let first = firstHidden[number] else {
                    return entry
                }
                return first > 1 ? .init(origin: entry.origin, version: min(entry.version, first - 1)) : nil
            })
    }

    private static func hiddenShapes(_ registry: ShapeRegistry) -> Set<Int64> {
        Set(
            registry.entries.values.filter { entry in
                // What a leaf covers it never has: nobody writes there what could contradict it.
                guard !entry.shape.isHidden else { return false }
                guard let tracked = registry.tracked(tableID: entry.table), tracked.shownColumns != [] else {
                    return true
                }
                let known = Set(tracked.shape.columns.map(SQLText.foldedName))
                return !entry.shape.columns.allSatisfy { known.contains(SQLText.foldedName($0)) }
                    || entry.shape.keyColumns.map(SQLText.foldedName)
                        != tracked.shape.keyColumns.map(SQLText.foldedName)
            }.map(\.id))
    }
}

import GRDB
import Journal

/// Finds the rows that a foreign key forbids which has come into force: with the table of its parents, or by a migration of the children.
///
/// Machines that had the key before hold such rows, so they are held here too (decision 0008). Nothing else would look at them: they
/// stand in their tables, and no change names them. The file remembers by which keys its rows were looked at, so that each walk
/// through the children is made once.
struct NewForeignKeys {
    let db: Database
    let session: ApplySession
    let registry: ShapeRegistry

    /// Call it when the schema may have changed, inside of a transaction of the merge connection, after ``Backfill``.
    func run() throws {
        let before = try Set(
            (String.fetchOne(db, sql: "SELECT checked_keys FROM _journal_replica") ?? "").split(separator: "\n"))
        let keys = session.foreignKeys.all.map { (key: $0, text: text(of: $0)) }
        guard Set(keys.map { Substring($0.text) }) != before else { return }
        let rows = try RowStore(db, session: session, registry: registry)
        for (key, text) in keys where !before.contains(Substring(text)) {
            guard let context = session.context(ofTable: key.child, registry: registry), let table = context.inspection
            else { continue }
            try rows.noteOrphans(of: key, context: context, table: table)
        }
        try rows.updateVisibility(all: true)
        try db.execute(
            sql: "UPDATE _journal_replica SET checked_keys = ?", arguments: [keys.map(\.text).joined(separator: "\n")])
    }

    /// What decides which rows the key forbids, in one line.
    private func text(of key: ForeignKey) -> String {
        let child = ([key.child] + key.childColumns.map(String.init)).map(SQLText.quote(identifier:))
        let parentColumns = zip(key.parentColumns, key.parentCollations).map { column, collation in
            SQLText.quote(identifier: column) + (collation == .binary ? "" : " \(collation.rawValue)")
        }
        let parent = [SQLText.quote(identifier: key.parent)] + parentColumns
        let substitute =
            switch key.substitute {
            case .none: "held"
            case .values(let values): "shown with \(values)"
            }
        return "\(child.joined(separator: " ")) -> \(parent.joined(separator: " ")), \(substitute)"
            .replacing("\n", with: "\\n")
    }
}

extension RowStore {
    /// Notes the visible rows that refer through `key` to no row, for ``updateVisibility(all:)``. Walks through the children.
    func noteOrphans(of key: ForeignKey, context: TableContext, table: TableInspection) throws {
        for values in try session.foreignKeys.orphans(of: key, table: table) {
            let tableKey = ConcurrentChanges.TableKey(
                table: context.tableID, key: Key(values, collations: context.collations))
            unchecked[tableKey] = RowID(key: tableKey, context: context, table: table, values: values)
        }
    }
}

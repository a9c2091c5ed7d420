import GRDB
import Journal

/// Finds the rows that a new foreign key forbids. A key takes effect when its parent table is created, or
/// when a migration adds it to the children.
///
/// Machines that had the key before hold such rows, so they are held here too (decision 0008). Nothing else
/// would find them: the rows are in their tables, and no change names them. The file records the keys for
/// which its rows were checked, so the walk through the children happens once for each key.
struct NewForeignKeys {
    let db: Database
    let session: ApplySession
    let registry: ShapeRegistry

    /// Holds the rows that a new key forbids. Call it when the schema may have changed, inside a transaction
    /// of the merge connection, after ``Backfill``.
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

    /// Everything that determines which rows the key forbids, on one line.
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
    /// Notes the visible rows whose parent by `key` is missing, for ``updateVisibility(all:)``. Walks through
    /// the child table.
    func noteOrphans(of key: ForeignKey, context: TableContext, table: TableInspection) throws {
        for values in try session.foreignKeys.orphans(of: key, table: table) {
            let tableKey = TableKey(
                table: context.tableID, key: Key(values, collations: context.collations))
            unchecked[tableKey] = RowID(key: tableKey, context: context, table: table, values: values)
        }
    }
}

import GRDB
import Journal

/// Keeps text out of indexes that a mapped collation may put in another place than the program's own collation.
///
/// NOCASE knows the case of the 26 letters of ASCII only. Where a program's collation is mapped to it
/// (``CollationMap``), a merged row with other letters that have case is refused like one that breaks a CHECK, and
/// held. Temporary triggers of the merging connection do that: SQLite runs them also while those of the schema
/// are off.
enum CollationGuards {
    private static let prefix = "_tandem_collation_"

    /// Makes the guards that the schema needs, and drops those of an earlier schema.
    ///
    /// - Parameter tables: The tables that are merged.
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    static func renew(_ db: Database, tables: [TableInspection], _ map: CollationMap) throws {
        try TemporaryTriggers.drop(db, prefix: prefix)
        guard map.all.contains(where: { $0.target == .nocase }) else { return }
        var number = 0
        for table in tables {
            for column in try CollatedColumns(db, table).all where map.target(of: column.collation) == .nocase {
                try CaseFunction.add(to: db)
                let name = SQLText.quote(identifier: column.name)
                let message =
                    "\(table.name).\(column.name) has letters beyond ASCII, which NOCASE may order in another way than "
                    + column.collation
                for event in ["INSERT", "UPDATE OF \(name)"] {
                    number += 1
                    try db.execute(
                        sql: """
                            CREATE TEMP TRIGGER \(prefix)\(number)
                            BEFORE \(event) ON main.\(SQLText.quote(identifier: table.name))
                            WHEN typeof(NEW.\(name)) = 'text' AND \(CaseFunction.name)(NEW.\(name))
                            BEGIN SELECT RAISE(ABORT, \(SQLText.quote(literal: message))); END
                            """)
                }
            }
        }
    }
}

import GRDB

extension Capture {
    /// Journals what programs wrote past the triggers of the tracked tables, and counts it in the report.
    ///
    /// - Parameters:
    ///   - report: That of the refresh in the same transaction.
    ///   - tables: All ordinary tables of the file.
    ///   - rowsPerPart: About how many rows are compared at a time.
    static func recapture(
        _ report: inout CaptureReport, _ tables: [TableInspection], _ registry: ShapeRegistry, rowsPerPart: Int64,
        _ db: Database
    ) throws {
        for index in report.tracked.indices where report.tracked[index].adoptedRows == 0 {
            guard let table = tables.first(where: { $0.name == report.tracked[index].table }),
                let entry = registry.tracked(table: table.name)
            else { continue }
            let outcome = try Reconciliation(
                table, entry: entry, scope: .recapture, rowsPerPart: rowsPerPart, db
            ).run()
            report.tracked[index].recoveredChanges += outcome.journalled
        }
    }
}

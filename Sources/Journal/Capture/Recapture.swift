import GRDB

extension Capture {
    /// Journals what programs wrote past the triggers of the tracked tables, and counts it in the report.
    ///
    /// - Parameters:
    ///   - report: That of the refresh in the same transaction.
    ///   - tables: All ordinary tables of the file.
    static func recapture(
        _ report: inout CaptureReport, _ tables: [TableInspection], _ registry: ShapeRegistry, _ db: Database
    ) throws {
        for index in report.tracked.indices where report.tracked[index].adoptedRows == 0 {
            guard let table = tables.first(where: { $0.name == report.tracked[index].table }),
                let entry = registry.tracked(table: table.name)
            else { continue }
            let outcome = try Reconciliation(table, entry: entry, scope: .recapture, db).run()
            report.tracked[index].recoveredChanges += outcome.journalled
        }
    }
}

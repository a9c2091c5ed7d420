import Journal

extension Endpoint {
    /// Takes what programs wrote past capture into the rows with `keys`, if this replica does so by itself.
    ///
    /// - Throws: ``SyncError/Code/notFound`` when the table is not tracked here, or has another key.
    func recapture(_ shape: TableShape, keys: [[Value]]) throws {
        guard limits.recapturesByItself else { return }
        let name = try replica.read { try TableRows($0, asked: shape).shape.table }
        guard try replica.read({ try PastCapture.isIntact(name, $0) }) else { return }
        var table = VerifyReport.Table(name: name)
        table.differences = keys.map { key in
            .init(key: zip(shape.columns, key).map { (column: $0, value: $1) }, kind: .onlyThere)
        }
        var found = VerifyReport(peer: "")
        found.tables = [table]
        var report = RepairReport(after: found)
        try inbox.repair(found, .keepRows, .written, into: &report)
        inbox.noteRecaptured(report.captured + report.announced)
    }
}

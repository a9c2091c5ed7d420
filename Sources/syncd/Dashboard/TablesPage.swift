import Journal
import Sync

/// The tables of the file: which replicate, and why others do not.
enum TablesPage {
    static let path = "/tables"

    static func page(_ report: StatusReport, frame: Page.Frame) -> Page {
        Page(
            title: "Tables", path: path, frame: frame,
            content: """
                <h2>Replicated</h2>
                \(HTML.table(
                    "Tables that replicate", ["Table", "Rows", "All replicas agree"],
                    report.tables.map { ["\($0.name)", "\($0.rows ?? 0)", agreement(about: $0.name, report)] }))
                \(others(report))
                """)
    }

    /// What the last comparisons with the peers have found.
    private static func agreement(about table: String, _ report: StatusReport) -> HTML {
        let different = report.peers.filter { peer in peer.mismatches.contains { $0.table == table } }
        guard different.isEmpty else {
            return "<span class=\"bad\">not with \(ConsoleText.list(different.map(\.url)))</span>"
        }
        let isCompared = report.peers.contains { $0.compared != nil }
        return isCompared ? "at the last comparison" : "<span class=\"soft\">not compared yet</span>"
    }

    private static func others(_ report: StatusReport) -> HTML? {
        guard !report.untracked.isEmpty else { return nil }
        let lost = report.untracked.filter(\.cause.losesRows)
        let local = report.untracked.filter { !$0.cause.losesRows }
        let rows: [[HTML]] = (lost + local).map { table in
            let decision: HTML = table.cause.losesRows ? "<span class=\"bad\">nobody decided so</span>" : "stays local"
            return ["\(table.table)", decision, "\(table.reason)"]
        }
        return "<h2>Not replicated</h2>" + .table("Tables that do not replicate", ["Table", "Decision", "Why"], rows)
    }
}

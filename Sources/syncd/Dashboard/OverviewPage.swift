import Foundation
import Journal
import Sync

/// The page at `/`: is all well, what the peers do, how large everything is, and how all that has developed.
struct OverviewPage {
    static let path = "/"
    static let refreshSeconds = 5

    private let report: StatusReport
    private let charts: HTML
    private let now: Date

    /// - Parameters:
    ///   - report: The status of a running daemon.
    ///   - charts: As ``LiveFeed/charts``.
    ///   - now: The time of the report.
    init(_ report: StatusReport, charts: HTML, now: Date = Date()) {
        self.report = report
        self.charts = charts
        self.now = now
    }

    func page(_ frame: Page.Frame) -> Page {
        Page(
            title: "Overview", path: OverviewPage.path, frame: frame, refreshSeconds: OverviewPage.refreshSeconds,
            time: now, shape: live.shape,
            content: """
                <div id="verdict" role="status">\(Verdict(report).html)</div>
                <ul class="figures" id="figures">\(figures)</ul>
                <h2>Peers</h2>
                \(peers)
                <h2>The last hour and day</h2>
                <div id="charts">\(charts)</div>
                <h2>Who follows whom</h2>
                <div id="topology">\(TopologyPicture(report).html)</div>
                <h2>What this replica knows</h2>
                \(HTML.table("The versions that this replica knows", OverviewPage.knowledgeHead, rows: knowledgeRows))
                <footer>\(report.path) · cluster \(report.cluster) · syncd \(Version.current) · \
                SQLite \(report.sqliteVersion)</footer>
                """)
    }

    /// The parts of all pages that are replaced while somebody looks at them.
    var live: LiveParts {
        LiveParts(
            parts: [
                LivePart(id: "verdict", html: Verdict(report).html), LivePart(id: "figures", html: figures),
                LivePart(id: "charts", html: charts), LivePart(id: "topology", html: TopologyPicture(report).html),
                ConflictsPage.count(report.conflicts), HeldPage.count(report.held),
            ] + peerRows + knowledgeRows,
            shape: "\(report.peers.count).\(report.vector.entries.count)")
    }

    private var figures: HTML {
        """
        <li><strong>\(report.journalRows)</strong> changes in the journal</li>
        <li><strong>\(report.conflicts)</strong> open conflicts</li>
        <li><strong>\(report.held)</strong> rows held</li>
        <li><strong>\(OverviewPage.size(report.fileBytes))</strong> on disk</li>
        <li><strong>\(OverviewPage.size(report.walBytes))</strong> in the log</li>
        """
    }

    private static let peersHead = ["Peer", "State", "Received", "Sent", "Last contact", "Clock"]

    private var peers: HTML {
        guard !report.peers.isEmpty else { return "<p>No peers are followed.</p>" }
        return .table("Peers", OverviewPage.peersHead, rows: peerRows)
    }

    private var peerRows: [LivePart] {
        report.peers.enumerated().map { number, peer in
            let cells = [
                OverviewPage.name(peer), OverviewPage.state(peer), OverviewPage.count(peer.pulled),
                OverviewPage.count(peer.pushed), OverviewPage.contact(peer, now: now), OverviewPage.clock(peer),
            ]
            return LivePart(id: "peer-\(number)", html: .cells(OverviewPage.peersHead, cells))
        }
    }

    private static let knowledgeHead = ["Origin", "Up to version"]

    private var knowledgeRows: [LivePart] {
        report.vector.entries.enumerated().map { number, entry in
            let own: HTML = entry.origin == report.origin ? " (this replica)" : ""
            let cells: [HTML] = ["<code>\(entry.origin.description)</code>\(own)", "\(entry.version)"]
            return LivePart(id: "origin-\(number)", html: .cells(OverviewPage.knowledgeHead, cells))
        }
    }

    private static func name(_ peer: StatusReport.Peer) -> HTML {
        let origin: HTML? = peer.origin.map { " <span class=\"soft\"><code>\($0.short)</code></span>" }
        let direction: HTML? = peer.direction.flatMap { direction in
            direction == .both ? nil : "<br><span class=\"soft\">\(direction.rawValue) only</span>"
        }
        return "\(peer.url)\(origin)\(direction)"
    }

    private static func state(_ peer: StatusReport.Peer) -> HTML {
        let level: HTML =
            switch peer.lag {
            case nil where peer.direction == .pull: "<span class=\"soft\">gets nothing from here</span>"
            case nil: "<span class=\"soft\">nothing confirmed yet</span>"
            case let lag? where lag.changes == 0: "<span class=\"good\">has everything</span>"
            case let lag?: "\(lag.text)"
            }
        let compared: HTML? = peer.compared.map { time in
            let word = peer.mismatches.isEmpty ? "equal" : "different"
            return "<br><span class=\"soft\">\(word) at \(ConsoleText.time(time))</span>"
        }
        let error: HTML? = peer.lastError.map { message in
            let hint: HTML? = peer.hint.map { "<br><span class=\"soft\">\($0)</span>" }
            return "<br><span class=\"bad\">\(message)</span>\(hint)"
        }
        let requests: HTML? = peer.storeRequests.map { "<br><span class=\"soft\">\($0.summary)</span>" }
        return "\(level)\(compared)\(requests)\(error)"
    }

    private static func count(_ changes: Int?) -> HTML {
        changes.map { "\($0)" } ?? "<span class=\"soft keep\">unknown</span>"
    }

    private static func contact(_ peer: StatusReport.Peer, now: Date) -> HTML {
        guard let time = peer.lastContact else { return "<span class=\"soft\">never</span>" }
        // A quiet peer is in contact every minute. Shorter times would change the page all the time.
        let seconds = Int64(max(0, now.timeIntervalSince(time)))
        let ago = seconds < 120 ? "less than 2 min" : ConsoleText.duration(seconds * 1_000)
        return "<span class=\"keep\">\(ago) ago</span>"
    }

    private static func clock(_ peer: StatusReport.Peer) -> HTML {
        guard let offset = peer.clockOffset else { return "<span class=\"soft keep\">unknown</span>" }
        let sign = offset < 0 ? "−" : "+"
        return "<span class=\"keep\">\(sign)\(ConsoleText.number(offset.magnitude)) ms</span>"
    }

    /// `3.1 MiB`
    static func size(_ bytes: Int64) -> String {
        let units = ["KiB", "MiB", "GiB", "TiB"]
        var value = Double(bytes) / 1_024
        var unit = 0
        while value >= 1_024, unit < units.count - 1 {
            value /= 1_024
            unit += 1
        }
        let tenths = (value * 10).rounded() / 10
        return (tenths == tenths.rounded() ? String(Int64(tenths)) : String(tenths)) + " " + units[unit]
    }
}

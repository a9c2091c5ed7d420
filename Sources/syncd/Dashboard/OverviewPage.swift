import Foundation
import Journal
import Sync

/// The page at `/`: is all well, what the peers do, and how large everything is.
enum OverviewPage {
    static let path = "/"
    static let refreshSeconds = 5

    static func page(_ report: StatusReport, now: Date, frame: Page.Frame) -> Page {
        Page(
            title: "Overview", path: path, frame: frame, refreshSeconds: refreshSeconds,
            content: """
                \(Verdict(report).html)
                <ul class="figures">
                <li><strong>\(report.journalRows)</strong> changes in the journal</li>
                <li><strong>\(report.conflicts)</strong> open conflicts</li>
                <li><strong>\(report.held)</strong> rows held</li>
                <li><strong>\(size(report.fileBytes))</strong> on disk</li>
                <li><strong>\(size(report.walBytes))</strong> in the log</li>
                </ul>
                <h2>Peers</h2>
                \(peers(report, now: now))
                <h2>What this replica knows</h2>
                \(knowledge(report))
                <footer>\(report.path) · cluster \(report.cluster) · syncd \(Version.current) · \
                SQLite \(report.sqliteVersion) · as of \(ConsoleText.time(now))</footer>
                """)
    }

    private static func peers(_ report: StatusReport, now: Date) -> HTML {
        guard !report.peers.isEmpty else { return "<p>No peers are followed.</p>" }
        return .table(
            "Peers", ["Peer", "State", "Received", "Sent", "Last contact", "Clock"],
            report.peers.map { peer in
                [name(peer), state(peer), count(peer.pulled), count(peer.pushed), contact(peer, now: now), clock(peer)]
            })
    }

    private static func name(_ peer: StatusReport.Peer) -> HTML {
        let origin: HTML? = peer.origin.map { " <span class=\"soft\"><code>\($0.short)</code></span>" }
        return "\(peer.url)\(origin)"
    }

    private static func state(_ peer: StatusReport.Peer) -> HTML {
        let level: HTML =
            switch peer.lag {
            case nil: "<span class=\"soft\">nothing confirmed yet</span>"
            case 0: "<span class=\"good\">has everything</span>"
            case let lag?: "\(ConsoleText.count(lag, "change")) behind"
            }
        let compared: HTML? = peer.compared.map { time in
            let word = peer.mismatches.isEmpty ? "equal" : "different"
            return "<br><span class=\"soft\">\(word) at \(ConsoleText.time(time))</span>"
        }
        let error: HTML? = peer.lastError.map { message in
            let hint: HTML? = peer.hint.map { "<br><span class=\"soft\">\($0)</span>" }
            return "<br><span class=\"bad\">\(message)</span>\(hint)"
        }
        return "\(level)\(compared)\(error)"
    }

    private static func count(_ changes: Int?) -> HTML {
        changes.map { "\($0)" } ?? "<span class=\"soft keep\">unknown</span>"
    }

    private static func contact(_ peer: StatusReport.Peer, now: Date) -> HTML {
        guard let time = peer.lastContact else { return "<span class=\"soft\">never</span>" }
        let ago = ConsoleText.duration(Int64(max(0, now.timeIntervalSince(time)) * 1_000))
        return "<time class=\"keep\" datetime=\"\(ConsoleText.time(time))\">\(ago) ago</time>"
    }

    private static func clock(_ peer: StatusReport.Peer) -> HTML {
        guard let offset = peer.clockOffset else { return "<span class=\"soft keep\">unknown</span>" }
        let sign = offset < 0 ? "−" : "+"
        return "<span class=\"keep\">\(sign)\(ConsoleText.number(offset.magnitude)) ms</span>"
    }

    private static func knowledge(_ report: StatusReport) -> HTML {
        .table(
            "The versions that this replica knows", ["Origin", "Up to version"],
            report.vector.entries.map { entry in
                let own: HTML = entry.origin == report.origin ? " (this replica)" : ""
                return ["<code>\(entry.origin.description)</code>\(own)", "\(entry.version)"]
            })
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

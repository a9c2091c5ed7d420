import Foundation
import Journal
import Sync

/// The page at `/`: the state of the replica at one glance. It is one HTML document without scripts and
/// without external resources; the browser fetches it again every 5 seconds.
struct Dashboard {
    let report: StatusReport
    let conflicts: [ConflictEntry]

    /// How many conflicts the page lists at most, newest first.
    static let listedConflicts = 20

    static let contentSecurityPolicy =
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

    var html: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="refresh" content="5">
        <title>syncd \(report.origin.short)</title>
        <style>\(Dashboard.style)</style>
        </head>
        <body>
        <h1>Replica <code>\(report.origin.short)</code> of \(Dashboard.escape(report.cluster))</h1>
        <ul class="figures">
        \(figure(ConsoleText.number(report.journalRows), "changes in the journal"))
        \(figure(ConsoleText.number(report.conflicts), "conflicts", alert: report.conflicts > 0))
        \(figure(ConsoleText.number(report.held), "rows held", alert: report.held > 0))
        \(figure(ConsoleText.number(report.fileBytes / 1_024), "KiB on disk"))
        </ul>
        <h2>Peers</h2>
        \(peers)
        <h2>Knowledge</h2>
        \(table(["origin", "up to version"], report.vector.entries.map { entry in
            [entry.origin.description + (entry.origin == report.origin ? " (this replica)" : ""), ConsoleText.number(entry.version)]
        }))
        <h2>Tables</h2>
        \(table(["table"], report.tables.map { [$0.name] }))
        \(unreplicated)
        <h2>Latest conflicts</h2>
        \(ledger)
        <footer>\(Dashboard.escape(report.path)) &middot; syncd \(Version.current) &middot; SQLite \
        \(Dashboard.escape(report.sqliteVersion)) &middot; \(ConsoleText.time(Date()))</footer>
        </body>
        </html>
        """
    }

    private var peers: String {
        guard !report.peers.isEmpty else { return "<p>No peers yet.</p>" }
        return table(
            ["peer", "replica", "state"], report.peers.map { [$0.url, $0.origin?.short ?? "", $0.summary] })
    }

    /// The tables that do not replicate although nobody decided so; nothing when there are none.
    private var unreplicated: String {
        let tables = report.untracked.filter(\.cause.losesRows)
        guard !tables.isEmpty else { return "" }
        return "<h2>Not replicated</h2>\n" + table(["table", "why"], tables.map { [$0.table, $0.reason] })
    }

    private var ledger: String {
        guard !conflicts.isEmpty else { return "<p>None.</p>" }
        return table(
            ["time", "table", "key", "kind", "lost", "kept"],
            conflicts.map { conflict in
                [
                    ConsoleText.time(Date(timeIntervalSince1970: conflict.time)), conflict.table,
                    conflict.key.map(\.value.shown).joined(separator: ", "), conflict.kind.rawValue,
                    conflict.lostText, conflict.keptText,
                ]
            })
    }

    private func figure(_ number: String, _ what: String, alert: Bool = false) -> String {
        "<li\(alert ? " class=\"alert\"" : "")><strong>\(number)</strong> \(what)</li>"
    }

    private func table(_ head: [String], _ rows: [[String]]) -> String {
        let cells = { (row: [String], tag: String) in
            "<tr>" + row.map { "<\(tag)>\(Dashboard.escape($0))</\(tag)>" }.joined() + "</tr>"
        }
        return "<table>" + cells(head, "th") + rows.map { cells($0, "td") }.joined(separator: "\n") + "</table>"
    }

    /// Escapes `text` for HTML: names and values come from databases and peers that are not trusted.
    private static func escape(_ text: String) -> String {
        var out = ""
        for character in ConsoleText.printable(text) {
            switch character {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "\"": out += "&quot;"
            case "'": out += "&#39;"
            default: out.append(character)
            }
        }
        return out
    }

    private static let style = """
        :root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
        body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
        h1 { font-size: 1.4rem } h2 { font-size: 1.05rem; margin: 1.8rem 0 .4rem }
        table { border-collapse: collapse; width: 100% }
        th, td { text-align: left; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid #8884; vertical-align: top }
        td { font-family: ui-monospace, monospace; font-size: .86rem; overflow-wrap: anywhere }
        .figures { display: flex; flex-wrap: wrap; gap: 1rem; padding: 0; list-style: none }
        .figures li { padding: .6rem 1rem; border: 1px solid #8886; border-radius: .5rem }
        .figures strong { display: block; font-size: 1.5rem } .alert { border-color: #d70 }
        footer { margin-top: 2rem; opacity: .7; font-size: .85rem }
        """
}

import Foundation
import Journal
import Sync

/// The text of `syncd status`, from the object of its `--json`: one layout for a file and for a daemon.
///
/// A daemon of another release may lack fields, which leave out their lines, and may have more, which follow
/// at the end.
struct StatusText {
    private let object: [String: Any]

    /// - Parameter json: The text of one JSON object; nil is returned for any other.
    init?(_ json: some Sequence<UInt8>) {
        guard let object = try? JSONSerialization.jsonObject(with: Data(json)) as? [String: Any] else { return nil }
        self.object = object
    }

    var text: String {
        var rows: [[String]] = []
        func add(_ label: String, _ text: String?) {
            if let text { rows.append([label, text]) }
        }
        add("replica", string("origin"))
        add("cluster", string("cluster"))
        add("token", string("token"))
        add("leaf", (object["leaf"] as? [String]).map(StatusText.leaf))
        add("journal", journal)
        add("conflicts", number("conflicts").map { ConsoleText.number($0) })
        add("held", held)
        add("orphans", string("foreign_keys").map(StatusText.orphans))
        add("file", sizes)
        add("software", software)
        if let dropped = number("conflicts_dropped"), dropped > 0 {
            add("conflicts", ConsoleText.number(dropped) + " dropped because of age or number")
        }
        if let ahead = number("clock_ahead_ms"), ahead > Limits.standard.clockSkewMilliseconds {
            add("clock", "own changes carry times \(ConsoleText.duration(ahead)) ahead: peers hold them back")
        }
        add("reload", string("configuration_refused").map { "refused: \($0)" })
        for origin in list("held_back") { add("held back", StatusText.heldBack(origin)) }
        for (origin, version) in vector {
            add("knows", "\(origin) to \(ConsoleText.number(version))" + (origin == string("origin") ? " (own)" : ""))
        }
        for replica in list("replicas") { add("replica", StatusText.replica(replica)) }
        for table in list("tables") {
            let count = StatusText.number(table["rows"]).map { "  " + ConsoleText.count($0, "row") } ?? ""
            add("table", StatusText.string(table["name"]).map { $0 + count })
        }
        for table in list("untracked") where StatusText.losesRows(table) {
            add("untracked", [table["table"], table["reason"]].compactMap(StatusText.string).joined(separator: "  "))
        }
        for peer in list("peers") {
            add("peer", StatusText.string(peer["url"]).map { "\($0)  \(StatusText.summary(of: peer))" })
        }
        for peer in list("peers") { rows += StatusText.mismatches(of: peer).map { ["DIFFERENT", $0] } }
        for key in object.keys.sorted() where !StatusText.known.contains(key) {
            add(ConsoleText.printable(key), StatusText.word(object[key]))
        }
        return ConsoleText.table(rows)
    }

    /// The fields that have lines of their own.
    private static let known: Set = [
        "origin", "cluster", "vector", "tables", "untracked", "journal_rows", "held", "held_by_reason", "conflicts",
        "conflicts_dropped", "clock_ahead_ms", "held_back", "peers", "file_bytes", "wal_bytes", "format_version",
        "sqlite_version", "version", "token", "configuration_refused", "journal_removed", "horizon", "replicas",
        "free_bytes", "foreign_keys", "leaf",
    ]

    // MARK: - Lines

    /// What a leaf has.
    private static func leaf(_ tables: [String]) -> String {
        "has only \(tables.map { ConsoleText.printable($0) }.joined(separator: ", ")), and gives nothing on"
    }

    /// What becomes of rows whose parent is missing.
    private static func orphans(_ rule: String) -> String {
        switch ForeignKeyRule(rawValue: rule) {
        case .keep: "stay in their tables (foreign keys: keep)"
        case .enforce: "are held until their parents are there (foreign keys: enforce)"
        case nil: ConsoleText.printable(rule)
        }
    }

    /// `3 (unique 2, foreign_key 1)`
    private var held: String? {
        guard let held = number("held") else { return nil }
        let byReason = (object["held_by_reason"] as? [String: Any] ?? [:]).sorted { $0.key < $1.key }
        let reasons = byReason.compactMap { reason, rows in
            StatusText.number(rows).map { "\(ConsoleText.printable(reason)) \(ConsoleText.number($0))" }
        }
        return ConsoleText.number(held) + (held > 0 ? " (\(reasons.joined(separator: ", ")))" : "")
    }

    /// `120 rows, 4 000 removed, history from 2026-11-21T08:40:19.000Z on`
    private var journal: String? {
        guard let rows = number("journal_rows") else { return nil }
        var parts = [ConsoleText.count(rows, "row")]
        if let removed = number("journal_removed"), removed > 0 {
            parts.append("\(ConsoleText.number(removed)) removed")
        }
        if let horizon = string("horizon") { parts.append("whole from \(ConsoleText.printable(horizon)) on") }
        return parts.joined(separator: ", ")
    }

    private var sizes: String? {
        guard let file = number("file_bytes"), let log = number("wal_bytes") else { return nil }
        let free = number("free_bytes").map { $0 > 0 ? " (\(ConsoleText.number($0)) free for new rows)" : "" } ?? ""
        return "\(ConsoleText.number(file)) bytes\(free), log \(ConsoleText.number(log)) bytes"
    }

    private static func replica(_ object: [String: Any]) -> String {
        ReplicaText(
            origin: string(object["origin"]) ?? "", standing: string(object["standing"]) ?? "",
            unconfirmed: number(object["unconfirmed"]) ?? 0, lastSeen: string(object["last_seen"]),
            witness: string(object["seen_by"])
        ).text
    }

    private var software: String? {
        guard let version = string("version"), let sqlite = string("sqlite_version") else { return nil }
        return "syncd \(version), SQLite \(sqlite)" + (number("format_version").map { ", format \($0)" } ?? "")
    }

    private var vector: [(origin: String, version: Int64)] {
        let entries = (object["vector"] as? [String: Any] ?? [:]).sorted { $0.key < $1.key }
        return entries.compactMap { origin, version in
            StatusText.number(version).map { (ConsoleText.printable(origin), $0) }
        }
    }

    private static func heldBack(_ origin: [String: Any]) -> String {
        HeldBackText(
            origin: string(origin["origin"]) ?? "", firstVersion: number(origin["first_version"]),
            changes: number(origin["changes"]) ?? 0, ahead: number(origin["ahead_ms"]),
            isContradictory: origin["contradicts_itself"] as? Bool ?? false,
            isBehindHorizon: origin["behind_horizon"] as? Bool ?? false,
            cause: string(origin["builds_on"]), since: string(origin["since"]),
            allowed: number(origin["allowed_ms"]) ?? 0
        ).text
    }

    private static func losesRows(_ table: [String: Any]) -> Bool {
        // A cause that this release does not know is shown.
        string(table["cause"]).flatMap(TableRefusal.Cause.init)?.losesRows ?? true
    }

    private static func summary(of peer: [String: Any]) -> String {
        PeerText(
            lag: number(peer["lag"]), lagMilliseconds: number(peer["lag_ms"]),
            lastContact: string(peer["last_contact"]),
            clockOffset: number(peer["clock_offset_ms"]), compared: string(peer["compared"]),
            differs: (peer["mismatches"] as? [Any])?.isEmpty == false, lastError: string(peer["last_error"]),
            requests: (peer["requests"] as? [String: Any]).map { requests in
                StoreRequests.summary(
                    total: StoreRequests.verbs.reduce(0) { $0 + (number(requests[$1.name]) ?? 0) },
                    sent: number(requests["sent_bytes"]) ?? 0, received: number(requests["received_bytes"]) ?? 0)
            }
        ).text
    }

    private static func mismatches(of peer: [String: Any]) -> [String] {
        (peer["mismatches"] as? [[String: Any]] ?? []).compactMap { mismatch in
            guard let url = string(peer["url"]), let table = string(mismatch["table"]) else { return nil }
            let count = number(mismatch["range_count"]).map {
                " in " + ConsoleText.count($0, "range of keys", "ranges of keys")
            }
            let ranges = (mismatch["ranges"] as? [[String: Any]] ?? []).map { range in
                let ends = [("after", range["after"]), ("up to", range["through"])].compactMap { word, key in
                    (key as? [String: Any]).map { "\(word) \(StatusText.word($0))" }
                }
                return ends.isEmpty ? "all rows" : ends.joined(separator: " ")
            }
            return "\(url) holds other rows although both know the same changes: \(table)\(count ?? "")"
                + (ranges.isEmpty ? "" : ": " + ranges.joined(separator: "; "))
        }
    }

    // MARK: - Values

    private func string(_ name: String) -> String? { StatusText.string(object[name]) }
    private func number(_ name: String) -> Int64? { StatusText.number(object[name]) }
    private func list(_ name: String) -> [[String: Any]] { object[name] as? [[String: Any]] ?? [] }

    private static func string(_ value: Any?) -> String? { (value as? String).map { ConsoleText.printable($0) } }
    private static func number(_ value: Any?) -> Int64? { (value as? NSNumber)?.int64Value }

    private static func word(_ value: Any?) -> String {
        switch value {
        case nil, is NSNull: return ""
        case let fields as [String: Any]:
            return fields.keys.sorted().map { "\(ConsoleText.printable($0)) \(word(fields[$0]))" }.joined(
                separator: ", ")
        case let list as [Any]: return list.map { word($0) }.joined(separator: "; ")
        case let value?: return ConsoleText.printable("\(value)")
        }
    }
}

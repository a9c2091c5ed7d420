import ArgumentParser
import Foundation
import Journal
import Sync

struct ConflictsCommand: AsyncParsableCommand, DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "Show, restore or dismiss values that lost against a concurrent change.",
        usage: """
            syncd conflicts <db> [filters] [--json]
            syncd conflicts <db> restore <id> ... [--as-new-row]
            syncd conflicts <db> dismiss <id> ...
            syncd conflicts <db> dismiss --all [filters]
            """,
        discussion: """
            A restore writes the lost values back as an ordinary local write, which reaches the peers. Of several ids, \
            either all are restored or none.

            Exit status: 0 success, 1 failure with nothing changed, 64 wrong use.
            """)

    enum Action: String, CaseIterable {
        case restore
        case dismiss
    }

    @OptionGroup var database: DatabaseArgument

    @Argument(help: ArgumentHelp("restore or dismiss, and the numbers of conflicts.", valueName: "action"))
    var words: [String] = []

    @OptionGroup var filter: ConflictOptions

    @Flag(help: "With dismiss: all conflicts that match the filters.")
    var all = false

    @Flag(help: "With restore: write what lost as a row of its own, under a key that SQLite chooses.")
    var asNewRow = false

    @Flag(help: "One JSON object per line.")
    var json = false

    func validate() throws {
        let (_, action, ids) = try order()
        guard let action else {
            guard !all else { throw ValidationError("--all goes with dismiss.") }
            guard !asNewRow else { throw ValidationError("--as-new-row goes with restore.") }
            return
        }
        guard !asNewRow || action == .restore else { throw ValidationError("--as-new-row goes with restore only.") }
        guard all else {
            guard !ids.isEmpty else { throw ValidationError("Which conflicts? Give their numbers.") }
            // Ignoring the filters would suggest that they had excluded some of the numbers.
            guard !filter.isGiven else { throw ValidationError("Filters go with the list and with dismiss --all.") }
            return
        }
        guard action == .dismiss else { throw ValidationError("--all goes with dismiss only.") }
        guard ids.isEmpty else { throw ValidationError("Give numbers or --all, not both.") }
    }

    func run() async throws {
        let (path, action, ids) = try order()
        switch action {
        case nil: try list(path)
        case .restore where asNewRow: try restoreAsNewRows(path, ids)
        case .restore: try change(path, "Restored") { try $0.restoreConflicts(ids, time: Date().timeIntervalSince1970) }
        case .dismiss:
            let filter = filter
            let isAll = all
            try change(path, "Dismissed") { replica in
                let chosen = isAll ? try filter.conflicts(in: replica).map(\.id) : ids
                return try replica.dismissConflicts(chosen, time: Date().timeIntervalSince1970)
            }
        }
    }

    private func order() throws -> (path: String, action: Action?, ids: [Int64]) {
        let order = try DecisionWords<Action>(path: database.path, words: words, thing: "conflict")
        return (order.path, order.action, order.ids)
    }

    private func list(_ path: String) throws {
        let replica = try Replica.openReader(at: path)
        var count = 0
        try filter.forEach(in: replica) { conflict in
            count += 1
            Console.line(json ? conflict.json.text : conflict.text)
        }
        if !json { Console.line(count == 0 ? "No conflicts." : ConsoleText.count(count, "conflict") + ".") }
        try replica.closeReader()
    }

    private func restoreAsNewRows(_ path: String, _ ids: [Int64]) throws {
        let replica = try Replica.open(at: path)
        let result = Result {
            let restored = try replica.restoreConflictsAsNewRows(ids, time: Date().timeIntervalSince1970)
            return (restored, try replica.read { try SecretColumns($0) })
        }
        try replica.close()
        let (rows, secrets) = try result.get()
        for restored in rows {
            let conflict = restored.conflict.hiding(secrets)
            Console.line(
                json
                    ? conflict.json(newKey: restored.key).text
                    : "Restored conflict \(conflict.id) as a new row: \(ConsoleText.printable(conflict.table)) \(restored.key)."
            )
        }
    }

    private func change(_ path: String, _ done: String, _ body: (Replica) throws -> [ConflictEntry]) throws {
        let replica = try Replica.open(at: path)
        let result = Result {
            let conflicts = try body(replica)
            let secrets = try replica.read { try SecretColumns($0) }
            return conflicts.map { $0.hiding(secrets) }
        }
        try replica.close()
        let conflicts = try result.get()
        for conflict in conflicts {
            Console.line(json ? conflict.json.text : "\(done) conflict \(conflict.id): \(conflict.row).")
        }
        if !json, conflicts.isEmpty { Console.line("No conflicts.") }
    }
}

/// The filters that select conflicts.
struct ConflictOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only conflicts of this table.", valueName: "table"))
    var table: String?

    @Option(
        help: ArgumentHelp(
            "Only conflicts of the row with this primary key; a JSON array for a key of several columns.",
            valueName: "key"))
    var key: String?

    @Option(
        help: ArgumentHelp(
            "Only conflicts of this kind: update/update, update/delete, insert/insert, key-change or rekeyed.",
            valueName: "kind"))
    var kind: String?

    @Option(
        help: ArgumentHelp(
            "Only conflicts noticed here at that time or later: 2026-11-21 (in UTC), or 2026-11-21T08:00:00Z.",
            valueName: "time"))
    var since: String?

    @Option(
        help: ArgumentHelp(
            "Only conflicts in which this origin wrote one side; the first digits are enough, 4 at least.",
            valueName: "origin"))
    var origin: String?

    @Option(help: ArgumentHelp("Only conflicts in this state: open, restored, dismissed or all.", valueName: "state"))
    var state: String = "open"

    func validate() throws {
        _ = try journalFilter()
        if let origin {
            guard origin.count >= 4, origin.count <= 32, origin.allSatisfy(\.isHexDigit) else {
                throw ValidationError("'\(origin)' is not 4 to 32 digits of an origin.")
            }
        }
    }

    var isGiven: Bool {
        [table, key, kind, since, origin].contains { $0 != nil } || state != "open"
    }

    func conflicts(in replica: Replica) throws -> [ConflictEntry] {
        var conflicts: [ConflictEntry] = []
        try forEach(in: replica) { conflicts.append($0) }
        return conflicts
    }

    func forEach(in replica: Replica, _ body: (ConflictEntry) throws -> Void) throws {
        var filter = try journalFilter()
        filter.table = try table.map { try replica.knownTable($0) }
        let pattern = key.map { KeyPattern(text: $0) }
        let prefix = origin?.lowercased()
        try replica.read { db in
            let secrets = try SecretColumns(db)
            try ConflictLedger(db).forEach(filter) { conflict in
                if let pattern, !pattern.matches(conflict.key.map { JSONValue($0.value) }) { return true }
                if let prefix {
                    let sides = [conflict.lostOrigin.description, conflict.keptOrigin.description]
                    guard sides.contains(where: { $0.hasPrefix(prefix) }) else { return true }
                }
                try body(conflict.hiding(secrets))
                return true
            }
        }
    }

    private func journalFilter() throws -> ConflictFilter {
        var filter = ConflictFilter()
        switch state {
        case "all": filter.states = Set(ConflictEntry.State.allCases)
        default:
            guard let state = ConflictEntry.State(rawValue: state) else {
                throw ValidationError("'\(state)' is not open, restored, dismissed or all.")
            }
            filter.states = [state]
        }
        if let kind {
            let spoken = kind.replacing("_", with: " ").replacing("-", with: " ")
            guard let known = ConflictEntry.Kind(rawValue: spoken) else {
                throw ValidationError(
                    "'\(kind)' is not update/update, update/delete, insert/insert, key-change or rekeyed.")
            }
            filter.kind = known
        }
        if let since {
            guard let time = ConsoleText.parseTime(since) else {
                throw ValidationError("'\(since)' is not a time such as 2026-11-21 or 2026-11-21T08:00:00Z.")
            }
            filter.since = time
        }
        return filter
    }
}

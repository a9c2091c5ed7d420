import ArgumentParser
import Foundation
import Journal
import Sync

struct HeldCommand: AsyncParsableCommand, DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "held",
        abstract: "Show which received changes their tables do not show, and why; decide about held rows.",
        usage: """
            syncd held <db> [--table <table>] [--reason <reason>] [--json]
            syncd held <db> restore <id> ...
            syncd held <db> drop <id> ...
            syncd held <db> reparent <id> --to <key> [--column <column>]
            """,
        discussion: """
            Held rows take part in merges, are passed on to peers, and return by themselves when the constraints allow them. \
            Changes of a table or column that this file lacks wait in the journal. `syncd clock` shows changes that wait for \
            a clock.

            restore inserts the missing parents of rows again, as they were when they were deleted. drop deletes held rows; \
            of a row that its table shows with NULL or a default, it drops the value that is not shown. reparent makes a row \
            refer to another row. Each is an ordinary local write, which reaches the peers. Of several ids, all are done or \
            none.

            Exit status: 0 success, 1 failure with nothing changed, 64 wrong use.
            """)

    enum Action: String, CaseIterable {
        case restore
        case drop
        case reparent
    }

    @OptionGroup var database: DatabaseArgument

    @Argument(help: ArgumentHelp("restore, drop or reparent, and the numbers of held rows.", valueName: "action"))
    var words: [String] = []

    @Option(help: ArgumentHelp("Only of this table.", valueName: "table"))
    var table: String?

    @Option(
        help: ArgumentHelp(
            "Only for this reason: \(HeldCommand.reasons.joined(separator: ", ")).", valueName: "reason"))
    var reason: String?

    @Option(
        help: ArgumentHelp(
            "With reparent: the primary key of the row to refer to; a JSON array for a key of several columns.",
            valueName: "key"))
    var to: String?

    @Option(
        help: ArgumentHelp(
            "With reparent: a column of the foreign key, when several parents are missing.", valueName: "column"))
    var column: String?

    @Flag(help: "One JSON object per line.")
    var json = false

    /// The values of ``HeldEntry/reason``: first those of rows, then those of changes.
    static let reasons = HoldReason.allCases.map(\.rawValue)

    func validate() throws {
        let order = try order()
        if let reason, !HeldCommand.reasons.contains(reason) {
            throw ValidationError(
                "'\(reason)' is no reason; the reasons are \(HeldCommand.reasons.joined(separator: ", ")).")
        }
        guard order.action == .reparent || (to == nil && column == nil) else {
            throw ValidationError("--to and --column go with reparent.")
        }
        guard let action = order.action else { return }
        guard table == nil, reason == nil else { throw ValidationError("Filters go with the list.") }
        guard !order.ids.isEmpty else { throw ValidationError("Which held rows? Give their numbers.") }
        guard action == .reparent else { return }
        guard order.ids.count == 1 else { throw ValidationError("reparent takes one held row.") }
        guard to != nil else { throw ValidationError("Give the key of the row to refer to with --to.") }
    }

    func run() async throws {
        let order = try order()
        guard let action = order.action else { return try list(order.path) }
        let replica = try Replica.openOnce(at: order.path)
        let lines = Result { try decide(action, order.ids, replica) }
        try replica.close()
        for line in try lines.get() { Console.line(json ? line.json.text : line.text) }
    }

    private func order() throws -> DecisionWords<Action> {
        try DecisionWords(path: database.path, words: words, thing: "held row")
    }

    private func list(_ path: String) throws {
        let replica = try Replica.openReader(at: path)
        let table = try table.map { try replica.knownTable($0) }
        var count = HeldCount()
        try replica.read { db in
            let secrets = try SecretColumns(db)
            try HeldEntries(db).forEach(table: table, reason: reason) { entry in
                count.add(entry)
                let shown = entry.hiding(secrets)
                Console.line(json ? shown.json.text : shown.text)
            }
        }
        if !json { Console.line(count.text) }
        try replica.closeReader()
    }

    /// Writes the decision, and shows the rows that it frees.
    private func decide(_ action: Action, _ ids: [Int64], _ replica: Replica) throws -> [HeldDecisionLine] {
        let decided: [(entry: HeldEntry, restored: [RestoredParent])]
        switch action {
        case .drop: decided = try replica.dropHeldRows(ids).map { (entry: $0, restored: []) }
        case .restore: decided = try replica.restoreHeldRows(ids)
        case .reparent:
            let entry = try replica.reparentHeldRow(ids[0], to: KeyArgument(to ?? "").values, column: column)
            decided = [(entry: entry, restored: [])]
        }
        let inbox = try Inbox(replica: replica) {
            Stamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
        }
        _ = try inbox.bringBackHeldRows()
        try inbox.close()
        let (held, secrets) = try replica.read { db in (try HeldEntries(db).rows(), try SecretColumns(db)) }
        return decided.map { decided in
            let still = held.first { $0.isSameRow(as: decided.entry) }
            return HeldDecisionLine(
                action: action, entry: decided.entry.hiding(secrets), restored: decided.restored, still: still)
        }
    }
}

/// A primary key as typed on the command line, as values: a text, or a JSON array of all key values.
struct KeyArgument {
    let values: [Value]

    init(_ text: String) {
        let array = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [Any]
        values = array?.compactMap(KeyArgument.value) ?? [.text(Array(text.utf8)[...])]
    }

    private static func value(_ element: Any) -> Value? {
        if let text = element as? String { return .text(Array(text.utf8)[...]) }
        guard let number = element as? NSNumber else { return nil }
        return Int64(exactly: number.doubleValue) != nil ? .integer(number.int64Value) : .real(number.doubleValue)
    }
}

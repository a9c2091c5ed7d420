import Foundation
import Journal
import Sync

// An entry of the conflict ledger, in the output of `syncd conflicts` and on the dashboard.

extension ConflictEntry {
    var json: JSONValue { json(newKey: nil) }

    /// - Parameter newKey: The key of the row that a restore has added; nil when it has added none.
    func json(newKey: Int64?) -> JSONValue {
        .object([
            "id": .integer(id),
            "table": .string(table),
            "key": ConflictEntry.json(key),
            "kind": .string(kind.rawValue),
            "state": .string(state.rawValue),
            "lost": ConflictEntry.json(lost),
            "kept": ConflictEntry.json(kept),
            "lost_op": .string(lostOperation.name),
            "kept_op": .string(keptOperation.name),
            "moved_to": .optional(movedTo, ConflictEntry.json),
            "lost_origin": .string(lostOrigin.description),
            "kept_origin": .string(keptOrigin.description),
            "lost_version": .integer(lostVersion),
            "kept_version": .integer(keptVersion),
            "lost_time": .string(ConsoleText.time(milliseconds: lostStamp.milliseconds)),
            "kept_time": .string(ConsoleText.time(milliseconds: keptStamp.milliseconds)),
            "time": .string(ConsoleText.time(Date(timeIntervalSince1970: time))),
            "closed_time": .optional(closedTime) { .string(ConsoleText.time(Date(timeIntervalSince1970: $0))) },
            "new_key": .optional(newKey) { .integer($0) },
        ])
    }

    private static func json(_ columns: [Column]) -> JSONValue {
        .columns(columns.map { (name: $0.column, value: $0.value) })
    }

    /// `person [1]`
    var row: String { "\(ConsoleText.printable(table)) [\(key.map(\.value.shown).joined(separator: ", "))]" }

    /// Both versions side by side:
    ///
    ///     7  2026-11-21T08:40:19.123Z  person [1]  update/update
    ///               lost                      kept
    ///         by    84278008                  6c01aa5e
    ///         at    2026-11-21T08:39:58.001Z  2026-11-21T08:39:59.120Z
    ///         name  'first'                   'second'
    var text: String {
        let when = ConsoleText.time(Date(timeIntervalSince1970: time))
        let mark = state == .open ? "" : "  (\(state.rawValue))"
        var rows = [
            ["    ", "", "lost", "kept"],
            ["    ", "by", lostOrigin.short, keptOrigin.short],
            [
                "    ", "at", ConsoleText.time(milliseconds: lostStamp.milliseconds),
                ConsoleText.time(milliseconds: keptStamp.milliseconds),
            ],
        ]
        rows += lost.map { side in
            let other = kept.first { $0.column == side.column }
            return ["    ", ConsoleText.printable(side.column), side.value.shown, other?.value.shown ?? outcome]
        }
        if lost.isEmpty { rows.append(["    ", "", lostOperation.name, outcome]) }
        // The margin and the first column form one cell: no gap is needed between them.
        let table = ConsoleText.table(rows.map { [$0[0] + $0[1]] + $0.dropFirst(2) })
        return "\(id)  \(when)  \(row)  \(kind.rawValue)\(mark)\n\(table)"
    }

    /// What the winning change did to a column that it did not write.
    private var outcome: String {
        if let movedTo { return "(moved to \(movedTo.map(\.value.shown).joined(separator: ", ")))" }
        if kind == .rekeyed { return "(kept by the other row)" }
        return keptOperation == .delete ? "(deleted)" : "(inserted again)"
    }

    var lostText: String { ConflictEntry.fields(lost) }
    var keptText: String { kept.isEmpty ? outcome : ConflictEntry.fields(kept) }

    private static func fields(_ columns: [Column]) -> String {
        guard !columns.isEmpty else { return "(deleted)" }
        return columns.map { "\(ConsoleText.printable($0.column))=\($0.value.shown)" }.joined(separator: "  ")
    }
}

import Foundation
import Journal
import Sync

// How an entry of the ledger looks in `syncd conflicts` and on the dashboard.

extension ConflictEntry {
    var json: JSON {
        .object([
            "id": .integer(id),
            "table": .string(table),
            "key": .columns(key.map { (name: $0.column, value: $0.value) }),
            "kind": .string(kind),
            "lost": .columns(lost.map { (name: $0.column, value: $0.value) }),
            "kept": .columns(kept.map { (name: $0.column, value: $0.value) }),
            "lost_origin": .string(lostOrigin.description),
            "kept_origin": .string(keptOrigin.description),
            "time": .string(ConsoleText.time(Date(timeIntervalSince1970: time))),
        ])
    }

    var text: String {
        let keyText = key.map(\.value.shown).joined(separator: ", ")
        let when = ConsoleText.time(Date(timeIntervalSince1970: time))
        return """
            \(id)  \(when)  \(ConsoleText.printable(table)) [\(keyText)]  \(kind)
                lost, by \(lostOrigin.short):  \(lostText)
                kept, by \(keptOrigin.short):  \(keptText)
            """
    }

    var lostText: String { ConflictEntry.fields(lost) }
    var keptText: String { ConflictEntry.fields(kept) }

    private static func fields(_ columns: [(column: String, value: Value)]) -> String {
        guard !columns.isEmpty else { return "(deleted)" }
        return columns.map { "\(ConsoleText.printable($0.column))=\($0.value.shown)" }.joined(separator: "  ")
    }
}

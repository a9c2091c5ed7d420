import Foundation
import Journal

// A held row, or changes that wait in the journal, in the output of `syncd held`.

extension HeldEntry {
    var json: JSONValue {
        .object([
            "id": .optional(id) { .integer($0) },
            "table": .string(table),
            "key": id == nil ? .null : .columns(key.map { (name: $0.column, value: $0.value) }),
            "reason": .string(reason),
            "detail": .string(detail),
            "columns": .columns(columns.map { (name: $0.column, value: $0.value) }),
            "shown": .bool(isShown),
            "changes": .optional(changes) { .integer(Int64($0)) },
        ])
    }

    var text: String {
        guard let id else {
            let count = changes.map { "  \(ConsoleText.count($0, "change"))" } ?? ""
            return "-  \(ConsoleText.printable(table))\(count)  \(reason): \(ConsoleText.printable(detail))"
        }
        let substituted = isShown ? "  (shown without it)" : ""
        let fields = columns.map { "\(ConsoleText.printable($0.column))=\($0.value.shown)" }.joined(separator: "  ")
        return """
            \(id)  \(ConsoleText.printable(table)) [\(key.map(\.value.shown).joined(separator: ", "))]\(substituted)
                \(reason): \(ConsoleText.printable(detail))
                \(fields)
            """
    }
}

/// Counts what `syncd held` has listed.
struct HeldCount: Hashable, Sendable {
    private var rows = 0
    /// Changes that wait in the journal because this file lacks their table or column.
    private var changes = 0

    mutating func add(_ entry: HeldEntry) {
        if entry.id != nil { rows += 1 }
        changes += entry.changes ?? 0
    }

    /// `2 rows are held, and 14 changes wait in the journal.`
    var text: String {
        var parts: [String] = []
        if rows > 0 { parts.append(ConsoleText.count(rows, "row is", "rows are") + " held") }
        if changes > 0 { parts.append(ConsoleText.count(changes, "change waits", "changes wait") + " in the journal") }
        return parts.isEmpty ? "Nothing is held." : parts.joined(separator: ", and ") + "."
    }
}

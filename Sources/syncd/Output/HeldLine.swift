import Foundation
import Journal

// A held row, or changes that wait in the journal, in the output of `syncd held`.

extension HeldEntry {
    var json: JSONValue {
        .object([
            "id": .optional(row?.id) { .integer($0) },
            "table": .string(table),
            "key": .optional(row) { .columns($0.key.map { (name: $0.column, value: $0.value) }) },
            "reason": .string(reason),
            "detail": .string(detail),
            "columns": .columns(namedColumns),
            "shown": .bool(row?.isShown ?? false),
            "changes": .optional(changes) { .integer(Int64($0.count)) },
        ])
    }

    /// The columns of the row, or the names of the missing ones with NULL.
    private var namedColumns: [(name: String, value: Value)] {
        switch subject {
        case .row(let row): row.columns.map { (name: $0.column, value: $0.value) }
        case .changes(let changes): changes.columns.map { (name: $0, value: .null) }
        }
    }

    var text: String {
        switch subject {
        case .changes(let changes):
            let count = ConsoleText.count(changes.count, "change")
            return "-  \(ConsoleText.printable(table))  \(count)  \(reason): \(ConsoleText.printable(detail))"
        case .row(let row):
            let substituted = row.isShown ? "  (shown without it)" : ""
            let fields = row.columns.map { "\(ConsoleText.printable($0.column))=\($0.value.shown)" }
                .joined(separator: "  ")
            let key = row.key.map(\.value.shown).joined(separator: ", ")
            return """
                \(row.id)  \(ConsoleText.printable(table)) [\(key)]\(substituted)
                    \(reason): \(ConsoleText.printable(detail))
                    \(fields)
                """
        }
    }
}

/// Counts what `syncd held` has listed.
struct HeldCount: Hashable, Sendable {
    private var rows = 0
    /// Changes that wait in the journal because this file lacks their table or column.
    private var changes = 0

    mutating func add(_ entry: HeldEntry) {
        if entry.row != nil { rows += 1 }
        changes += entry.changes?.count ?? 0
    }

    /// `2 rows are held, and 14 changes wait in the journal.`
    var text: String {
        var parts: [String] = []
        if rows > 0 { parts.append(ConsoleText.count(rows, "row is", "rows are") + " held") }
        if changes > 0 { parts.append(ConsoleText.count(changes, "change waits", "changes wait") + " in the journal") }
        return parts.isEmpty ? "Nothing is held." : parts.joined(separator: ", and ") + "."
    }
}

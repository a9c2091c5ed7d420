import Foundation
import Journal

// How something that is held looks in `syncd held`.

extension HeldEntry {
    var json: JSON {
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

import Foundation
import Journal

/// The rows that constraints keep out of their tables, each with its reason and what frees it.
enum HeldPage {
    static let path = "/held"
    /// The most rows of one page, the oldest first.
    static let most = 200

    static func page(_ rows: [HeldEntry], total: Int, frame: Page.Frame) -> Page {
        Page(
            title: "Held rows", path: path, frame: frame, time: Date(),
            content: "\(LivePart.line(count(total), path: path))\(content(rows, total: total))")
    }

    /// How many rows are held, as a sentence.
    static func count(_ total: Int) -> LivePart {
        let text =
            total == 0
            ? "Every received row is in its table."
            : ConsoleText.count(total, "row is", "rows are") + " kept out of the tables."
        return LivePart(id: "held-count", html: "\(text)")
    }

    private static func content(_ rows: [HeldEntry], total: Int) -> HTML {
        guard !rows.isEmpty else { return "" }
        let more: HTML? =
            total > rows.count
            ? "<p class=\"soft\">The first \(rows.count) of \(total). <code>syncd held</code> lists all.</p>" : nil
        return """
            <p>These rows were received, and a constraint here keeps them out of their tables. They are not lost, and \
            appear as soon as the constraint allows it.</p>
            \(more)
            \(HTML.table("Held rows", ["Row", "Why", "What frees it", "Values"], rows.map(cells)))
            """
    }

    private static func cells(_ entry: HeldEntry) -> [HTML] {
        let key = entry.key.map(\.value.shown).joined(separator: ", ")
        let values: [HTML] = (entry.row?.columns ?? []).map { column in
            "<span class=\"value\">\(column.column) = \(column.value.shown)</span><br>"
        }
        let history = HistoryPage.address(table: entry.table, key: entry.key.map(\.value))
        return [
            "<a href=\"\(history)\">\(entry.table) [\(key)]</a>", "\(entry.detail)",
            "\(HoldReason(rawValue: entry.reason)?.remedy ?? "Upgrade syncd on this machine.")", "\(values)",
        ]
    }
}

extension HoldReason {
    /// What an operator can do about it, as a sentence.
    var remedy: String {
        switch self {
        case .unique: "Change or delete the row that has the value, here or on another machine."
        case .foreignKey: "Insert the row that it refers to, or decide: syncd held restore, reparent or drop."
        case .notNull: "Give the column a value on the machine that wrote the row, or a default here."
        case .check: "Change the value on the machine that wrote the row, or migrate the CHECK here."
        case .datatype: "Change the value on the machine that wrote the row, or migrate the column here."
        case .key: "Write the row under a key that this table stores as it is."
        case .incomplete: "Nothing: it appears when the insert of the row arrives."
        case .policy: "Give this replica the function that merges the table."
        case .missingTable, .missingColumn, .differentKey: "Migrate this file as the others are."
        case .needsProgram: "Open the file with its own program."
        }
    }
}

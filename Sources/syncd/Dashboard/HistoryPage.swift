import Foundation
import Journal

/// What happened to one row: who changed what, and when.
enum HistoryPage {
    static let path = "/history"
    /// The newest entries of the journal that are searched, and the most changes of one page.
    static let searched: Int64 = 50_000
    static let most = 200

    struct Question: Sendable, Hashable {
        let table: String
        let key: String
    }

    static func address(table: String, key: [Value]) -> String {
        let text = JSONValue.array(key.map(JSONValue.init)).text
        return "\(path)?table=\(FormData.encoded(table))&key=\(FormData.encoded(text))"
    }

    /// The newest changes of a row, newest first.
    static func changes(_ question: Question, in replica: Replica) throws -> [LogLine] {
        let filter = LogFilter(table: question.table, key: question.key)
        let last = try replica.read { try JournalReader.lastSeq($0) }
        var position = max(0, last - searched)
        var lines: [LogLine] = []
        while true {
            let page = try LogPage(after: position, in: replica)
            guard let end = page.entries.last, position < last else { return lines.suffix(most).reversed() }
            lines += page.entries.filter(filter.accepts).map { page.line($0) }
            position = end.seq
        }
    }

    static func page(_ question: Question?, _ changes: [LogLine], tables: [String], frame: Page.Frame) -> Page {
        let options: [HTML] = tables.map { "<option value=\"\($0)\">" }
        return Page(
            title: "History", path: path, frame: frame,
            content: """
                <form method="get" action="\(path)">
                <label for="table">Table</label>
                <input type="text" id="table" name="table" value="\(question?.table ?? "")" list="tables" required>
                <datalist id="tables">\(options)</datalist>
                <label for="key">Key, or a JSON array of the values of a key of several columns</label>
                <input type="text" id="key" name="key" value="\(question?.key ?? "")" required>
                <div class="actions"><button>Show</button></div>
                </form>
                \(question == nil ? nil : answer(changes))
                """)
    }

    private static func answer(_ changes: [LogLine]) -> HTML {
        guard !changes.isEmpty else {
            return "<p>The newest \(searched) changes of the journal have none of this row.</p>"
        }
        let rows: [[HTML]] = changes.map { line in
            let time = ConsoleText.time(milliseconds: line.stamp.milliseconds)
            let columns: [HTML] = line.columns.map { column in
                "<span class=\"value\">\(column.name) = \(column.value.shown)</span><br>"
            }
            return [
                "<time datetime=\"\(time)\">\(time)</time>",
                "<code>\(line.origin.short)</code>\(line.isLocal ? " (here)" : "")", "\(line.operation)", "\(columns)",
            ]
        }
        return "<h2>Changes, newest first</h2>" + .table("Changes of the row", ["When", "Who", "What", "Values"], rows)
    }
}

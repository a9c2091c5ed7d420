import Foundation
import Journal

extension Model {
    /// Writes the rows as the JSON of ``exportJSON(_:in:)`` to an open file, pipe or socket. Only a small
    /// part of the JSON is in memory, whatever the number of rows.
    ///
    /// ```swift
    /// try Person.exportJSON(in: db, to: .standardOutput)
    /// ```
    ///
    /// - Parameters:
    ///   - tail: The SQL after `SELECT … FROM table`. Without it, all rows in the order of the key.
    ///   - database: The database to export from. All rows are of one snapshot.
    ///   - file: Stays open, and is at the end of the JSON afterwards.
    /// - Returns: The number of rows.
    /// - Throws: What ``exportJSON(_:in:)`` throws, and what `file` throws. What has been written by then
    ///   stays in the file, and is not complete JSON.
    @discardableResult
    public static func exportJSON(
        _ tail: SQL? = nil, in database: Database, to file: FileHandle
    ) throws -> Int {
        try exportJSON(tail, in: database) { try file.write(contentsOf: Data($0.utf8)) }
    }

    /// Passes the JSON of ``exportJSON(_:in:)`` to `write`, in parts of some 64 KiB and in their order.
    ///
    /// - Parameters:
    ///   - tail: The SQL after `SELECT … FROM table`. Without it, all rows in the order of the key.
    ///   - database: The database to export from. All rows are of one snapshot, in which `write` runs.
    ///   - write: Receives each part of the text.
    /// - Returns: The number of rows.
    /// - Throws: What ``exportJSON(_:in:)`` and `write` throw; `write` is not called any more then.
    @discardableResult
    public static func exportJSON(
        _ tail: SQL? = nil, in database: Database, write: (String) throws -> Void
    ) throws -> Int {
        let sql = SQL(raw: schema.select + " ") + (tail ?? "ORDER BY \(raw: orderByKey)").expanding(schema)
        let names = schema.columns.map(\.name)
        var count = 0
        var part = ""
        try database.forEach(batch: 64, RowReading(sql), operation: "exporting", table: schema.table) { rows in
            for row in rows {
                part += count == 0 ? "[\n" : ",\n"
                part +=
                    JSONValue.object(
                        zip(names, row.values).map { JSONValue.Member(name: $0, value: JSONValue($1)) }
                    ).spacedText
                count += 1
                if part.utf8.count >= 65_536 {
                    try write(part)
                    part = ""
                }
            }
        }
        try write(part + (count == 0 ? "[]" : "\n]"))
        return count
    }

    private static var orderByKey: String {
        schema.key.map { SQLText.quote(identifier: schema.columns[$0].name) }.joined(separator: ", ")
    }
}

import Journal

/// One row as `syncd show` shows it.
struct RowLine: Sendable {
    let row: PastRow
    let table: String
    /// This replica's origin.
    let own: OriginID
    /// The time that was asked for; nil for now.
    let at: Stamp?

    init(_ row: PastRow, table: String, own: OriginID, at: Stamp?) {
        self.row = row
        self.table = table
        self.own = own
        self.at = at
    }

    var lines: [String] {
        let key = row.key.map(\.value.shown).joined(separator: ", ")
        let name = "\(ConsoleText.printable(table)) [\(key)]"
        let last = "\(ConsoleText.time(milliseconds: row.last.stamp.milliseconds)) by \(writer(row.last))"
        guard row.isAlive else { return ["\(name) was deleted at \(last)."] }
        let cells =
            row.key.map { [ConsoleText.printable($0.name), $0.value.shown, "key"] }
            + row.columns.map { column in
                [
                    ConsoleText.printable(column.name), column.value.shown,
                    "\(ConsoleText.time(milliseconds: column.order.stamp.milliseconds))  \(writer(column.order))",
                ]
            }
        return ["\(name), last changed at \(last)", ConsoleText.table(cells.map { ["  " + $0[0], $0[1], $0[2]] })]
    }

    var json: JSONValue {
        .object([
            "table": .string(table),
            "key": .columns(row.key),
            "exists": .bool(row.isAlive),
            "at": .optional(at) { .string(ConsoleText.time(milliseconds: $0.milliseconds)) },
            "columns": .columns(row.columns.map { (name: $0.name, value: $0.value) }),
            "written": .object(
                row.columns.map { column in
                    JSONValue.Member(
                        name: column.name,
                        value: .object([
                            "time": .string(ConsoleText.time(milliseconds: column.order.stamp.milliseconds)),
                            "origin": .string(column.order.origin.description),
                        ]))
                }),
            "changed": .string(ConsoleText.time(milliseconds: row.last.stamp.milliseconds)),
            "changed_by": .string(row.last.origin.description),
        ])
    }

    private func writer(_ order: WriteOrder) -> String { order.origin == own ? "this replica" : order.origin.short }
}

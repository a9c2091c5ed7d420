import Journal
import TestSupport

/// Random SQL on one of the tables, with so few keys and values that machines conflict.
package enum HistoryStatement {
    package static func literal(_ value: Value) -> String {
        switch value {
        case .null: "NULL"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let bytes): "'\(String(decoding: bytes, as: UTF8.self))'"
        case .blob: "x''"
        }
    }

    package static func random(on schema: ReferenceSchema, _ random: inout SplitMix) -> String {
        let table = random.pick(schema.tables)
        func value(of column: ReferenceColumn) -> String {
            // More rows are accepted when they need no parent.
            if !column.isNotNull, random.chance(column.name.hasPrefix("f") ? 50 : 20) { return "NULL" }
            return column.isText ? random.pick(["'a'", "'b'", "'A'", "'c'"]) : "\(random.below(4))"
        }
        // Without a key, SQLite chooses it.
        let written = table.columns.dropFirst(table.mints && random.chance(50) ? 1 : 0)
        func row() -> String { "(\(written.map { value(of: $0) }.joined(separator: ", ")))" }
        func condition() -> String {
            let column = random.chance(80) ? table.columns[random.below(table.keyCount)] : random.pick(table.columns)
            return "\(column.name) = \(value(of: column))"
        }
        func assignment(key: Bool) -> String {
            let choices =
                key ? table.columns.prefix(table.keyCount) : table.columns.dropFirst(table.keyCount)
            let column = random.pick(Array(choices))
            return "\(column.name) = \(value(of: column))"
        }
        let names = written.map(\.name)
        // SQLite 3.40 does not look for a parent when REPLACE writes a row of a table that refers to itself.
        let refersToItself = table.foreignKeys.contains { $0.parent == table.name }
        let conflict = random.pick(["", "OR IGNORE "] + (refersToItself ? [] : ["OR REPLACE ", "OR REPLACE "]))
        switch random.below(20) {
        case 0..<7:
            let rows = (0...random.pick([0, 0, 0, 1, 2])).map { _ in row() }
            return
                "INSERT \(conflict)INTO \(table.name) (\(names.joined(separator: ", "))) VALUES \(rows.joined(separator: ", "))"
        case 7:
            return """
                INSERT INTO \(table.name) (\(names.joined(separator: ", "))) VALUES \(row()) \
                ON CONFLICT DO UPDATE SET \(assignment(key: false))
                """
        case 8..<13:
            return "UPDATE \(conflict)\(table.name) SET \(assignment(key: false)) WHERE \(condition())"
        case 13:
            return "UPDATE \(conflict)\(table.name) SET \(assignment(key: false))"
        case 14, 15:
            return "UPDATE \(conflict)\(table.name) SET \(assignment(key: true)) WHERE \(condition())"
        case 16..<19:
            return "DELETE FROM \(table.name) WHERE \(condition())"
        default:
            return "DELETE FROM \(table.name)"
        }
    }

    /// A statement of a migration. Run twice, it would mostly change the values twice.
    package static func migration(of schema: ReferenceSchema, _ random: inout SplitMix) -> String {
        let table = random.pick(schema.tables)
        guard let column = table.columns.dropFirst(table.keyCount).randomElement(using: &random),
            random.chance(85)
        else { return Self.random(on: schema, &random) }
        let value = column.isText ? "\(column.name) || 'm'" : "\(column.name) + 1"
        let condition = random.chance(50) ? "" : " WHERE \(table.columns[0].name) \(random.pick(["<", ">", "="])) 2"
        return "UPDATE OR IGNORE \(table.name) SET \(column.name) = \(value)\(condition)"
    }
}

import Journal
import TestSupport

/// Random statements on a random schema, as SQL text. Many fail, as those of a careless program do. That is
/// part of the test.
enum RandomStatement {
    static func literal(_ table: RandomTable, _ position: Int, _ random: inout SplitMix) -> String {
        let column = table.columns[position]
        if !column.isNotNull, random.chance(table.key.contains(position) ? 1 : 12) { return "NULL" }
        if table.key.contains(position) || column.isUnique || random.chance(30) {
            return RandomLiteral.key(column.kind, &random)
        }
        // A value of another class than that of the column.
        if random.chance(table.isStrict ? 1 : 8) { return RandomLiteral.any(&random) }
        return RandomLiteral.value(column.kind, &random)
    }

    static func condition(_ table: RandomTable, _ random: inout SplitMix) -> String {
        let key = table.keySQL()
        switch random.below(10) {
        case 0...4:
            return table.key.map { "\(table.columns[$0].sql) = \(literal(table, $0, &random))" }.joined(
                separator: " AND ")
        case 5, 6:
            return
                "(\(key)) IN (SELECT \(key) FROM \(table.sql) ORDER BY \(key) LIMIT \(1 + random.below(3)) OFFSET \(random.below(6)))"
        case 7 where !table.isWithoutRowid: return "rowid = \(1 + random.below(12))"
        default:
            let position = random.below(table.columns.count)
            return
                "\(table.columns[position].sql) \(random.pick(["=", "IS", ">", "<>"])) \(literal(table, position, &random))"
        }
    }

    // MARK: - Verbs

    static func insert(into table: RandomTable, verb: String, rows: Int = 1, _ random: inout SplitMix) -> String {
        var positions = table.writable.filter { position in
            table.key.contains(position)
                || (table.columns[position].isNotNull && table.columns[position].defaultValue == nil)
                || !random.chance(20)
        }
        if table.isRowidKey, random.chance(15), positions.count > 1 { positions.removeAll { $0 == table.key[0] } }
        positions.shuffle(using: &random)
        let columns = positions.map { table.columns[$0].sql }.joined(separator: ", ")
        let tuples = (0..<rows).map { _ in
            "(" + positions.map { literal(table, $0, &random) }.joined(separator: ", ") + ")"
        }
        return "\(verb) INTO \(table.sql) (\(columns)) VALUES \(tuples.joined(separator: ", "))"
    }

    static func upsert(_ table: RandomTable, _ random: inout SplitMix) -> String {
        let insert = insert(into: table, verb: "INSERT", rows: 1 + random.below(2), &random)
        guard let position = table.values.randomElement(using: &random), random.chance(80) else {
            return insert + " ON CONFLICT DO NOTHING"
        }
        let column = table.columns[position].sql
        let value = random.chance(50) ? "excluded.\(column)" : literal(table, position, &random)
        let target = random.chance(70) ? "(\(table.keySQL())) " : ""
        return insert + " ON CONFLICT \(target)DO UPDATE SET \(column) = \(value)"
            + (random.chance(20) ? " WHERE \(column) IS NOT NULL" : "")
    }

    static func insertSelect(_ table: RandomTable, _ random: inout SplitMix) -> String {
        let positions = table.writable
        let expressions = positions.map { position -> String in
            let column = table.columns[position]
            guard table.key.contains(position) || column.isUnique else { return column.sql }
            switch column.kind {
            case .integer, .numeric, .real: return "\(column.sql) + 1"
            case .text: return "\(column.sql) || 'x'"
            default: return literal(table, position, &random)
            }
        }
        return "\(random.pick(["INSERT", "INSERT OR IGNORE", "INSERT OR REPLACE", "REPLACE"])) INTO \(table.sql) ("
            + positions.map { table.columns[$0].sql }.joined(separator: ", ")
            + ") SELECT \(expressions.joined(separator: ", ")) FROM \(table.sql) WHERE \(condition(table, &random)) LIMIT 3"
    }

    static func update(_ table: RandomTable, verb: String, _ random: inout SplitMix) -> String {
        var positions: [Int] = []
        let touchesKey = random.chance(20)
        for _ in 0..<(1 + random.below(3)) {
            let candidates = touchesKey ? table.writable : table.values
            if let position = candidates.randomElement(using: &random), !positions.contains(position) {
                positions.append(position)
            }
        }
        if positions.isEmpty { positions = [table.key[0]] }
        let assignments = positions.map { position -> String in
            let column = table.columns[position]
            let value: String =
                switch random.below(10) {
                case 0: column.sql
                case 1: table.columns[random.pick(table.writable)].sql
                case 2 where column.kind == .integer || column.kind == .real: "\(column.sql) + 1"
                case 3 where column.kind == .text: "substr(\(column.sql) || 'y', 1, 50)"
                default: literal(table, position, &random)
                }
            return "\(column.sql) = \(value)"
        }
        let condition = random.chance(12) ? "" : " WHERE \(condition(table, &random))"
        return "\(verb) \(table.sql) SET \(assignments.joined(separator: ", "))\(condition)"
    }

    static func delete(from table: RandomTable, _ random: inout SplitMix) -> String {
        "DELETE FROM \(table.sql) WHERE \(condition(table, &random))"
    }

    /// Any statement that changes data.
    static func any(_ table: RandomTable, _ random: inout SplitMix) -> String {
        let suffix = random.chance(4) ? " RETURNING *" : ""
        switch random.below(100) {
        case 0..<24: return insert(into: table, verb: "INSERT", rows: random.chance(25) ? 3 : 1, &random) + suffix
        case 24..<34:
            return insert(
                into: table, verb: random.pick(["REPLACE", "INSERT OR REPLACE"]), rows: 1 + random.below(3), &random)
        case 34..<38: return insert(into: table, verb: "INSERT OR IGNORE", rows: 1 + random.below(3), &random)
        case 38..<41: return insert(into: table, verb: "INSERT OR FAIL", rows: 3, &random)
        case 41..<43: return insert(into: table, verb: "INSERT OR ROLLBACK", &random)
        case 43..<51: return upsert(table, &random)
        case 51..<57: return insertSelect(table, &random)
        case 57..<76: return update(table, verb: "UPDATE", &random) + suffix
        case 76..<82: return update(table, verb: "UPDATE OR REPLACE", &random)
        case 82..<85: return update(table, verb: random.pick(["UPDATE OR IGNORE", "UPDATE OR FAIL"]), &random)
        case 85..<87 where !table.isWithoutRowid && !table.isRowidKey:
            return "UPDATE \(table.sql) SET rowid = rowid + 20 WHERE \(condition(table, &random))"
        case 85..<87:
            return
                "UPDATE OR REPLACE \(table.sql) SET \(table.columns[table.key[0]].sql) = \(literal(table, table.key[0], &random))"
        case 87..<98: return delete(from: table, &random) + suffix
        case 98: return "DELETE FROM \(table.sql)"
        default: return "INSERT INTO \(table.sql) DEFAULT VALUES"
        }
    }

    /// A statement that changes no row, for any content of the table.
    static func nothing(_ table: RandomTable, _ random: inout SplitMix) -> String {
        let column = table.columns[random.pick(table.writable)].sql
        return random.pick([
            "UPDATE \(table.sql) SET \(column) = \(column)", "DELETE FROM \(table.sql) WHERE 0",
            "INSERT OR IGNORE INTO \(table.sql) SELECT * FROM \(table.sql) WHERE 0",
            "UPDATE OR REPLACE \(table.sql) SET \(column) = \(column) WHERE \(condition(table, &random))",
        ])
    }
}

import Journal
import TestSupport

struct RandomColumn {
    var name: String
    let kind: RandomClass
    var definition: String
    let isGenerated: Bool
    let isNotNull: Bool
    let isUnique: Bool
    /// The column's value in rows that were not written since it was added.
    let defaultValue: Value?

    var sql: String { RandomSchema.quote(name) }
}

struct RandomTable {
    let name: String
    var columns: [RandomColumn]
    /// Positions in ``columns``, in key order.
    let key: [Int]
    let isRowidKey: Bool
    let isWithoutRowid: Bool
    let isStrict: Bool
    var hasTriggers = false
    var hasForeignKeys = false

    var sql: String { RandomSchema.quote(name) }
    /// Positions of the columns that a statement may write.
    var writable: [Int] { columns.indices.filter { !columns[$0].isGenerated } }
    var values: [Int] { writable.filter { !key.contains($0) } }
    func keySQL() -> String { key.map { columns[$0].sql }.joined(separator: ", ") }
}

/// A random schema: its `CREATE` statements, and what random statements need to know of it.
struct RandomSchema {
    var tables: [RandomTable] = []
    var statements: [String] = []

    /// Quotes a name in any of SQLite's four ways, always correctly.
    static func quote(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }

    private static let names = [
        "plain", "order", "two words", "quo\"te", "it's", "tick`s", "[brackets]", "semi;colon", "per%cent", "名前", "имя",
        "Ünï",
        "x.y", "select", "new", "old", "1st", "tab\there", "NEW", "rowid_", "--c", "/*c*/", "a,b", "(p)", "$v", "?1",
        "\u{1F600}",
    ]

    init(_ random: inout SplitMix) {
        let count = 1 + random.below(4)
        for index in 0..<count { addTable(index, &random) }
        for index in tables.indices { addIndexes(index, &random) }
        for index in tables.indices where random.chance(35) { addTriggers(index, &random) }
    }

    // MARK: - Tables

    private mutating func addTable(_ index: Int, _ random: inout SplitMix) {
        let isStrict = random.chance(20)
        let count: Int =
            switch random.below(40) {
            case 0, 1: 1
            case 2...31: 2 + random.below(7)
            case 32...38: 9 + random.below(32)
            default: 60 + random.below(80)
            }
        let isRowidKey = random.chance(30)
        let isWithoutRowid = !isRowidKey && random.chance(30)
        let keyCount = isRowidKey ? 1 : min(count, random.chance(30) ? 2 + random.below(2) : 1)
        let key = Array((0..<count).shuffled(using: &random).prefix(keyCount))
        var columns: [RandomColumn] = []
        for position in 0..<count {
            columns.append(
                column(
                    "c\(position)", isKey: key.contains(position), isRowidKey: isRowidKey, isStrict: isStrict,
                    earlier: columns, &random))
        }
        var clauses = columns.map { "\($0.sql) \($0.definition)" }
        if isRowidKey, random.chance(60) {
            clauses[key[0]] += " PRIMARY KEY" + random.pick(["", "", " AUTOINCREMENT", " ASC"])
        } else {
            let terms = key.map { columns[$0].sql + random.pick(["", "", " DESC"]) }
            clauses.append("PRIMARY KEY (\(terms.joined(separator: ", ")))")
        }
        let name = RandomSchema.names.randomElement(using: &random).map { $0 + (index == 0 ? "" : " \(index)") } ?? "t"
        var table = RandomTable(
            name: name, columns: columns, key: key, isRowidKey: isRowidKey, isWithoutRowid: isWithoutRowid,
            isStrict: isStrict)
        clauses += constraints(of: &table, &random)
        var options: [String] = []
        if isWithoutRowid { options.append("WITHOUT ROWID") }
        if isStrict { options.append("STRICT") }
        statements.append(
            "CREATE TABLE \(table.sql) (\(clauses.joined(separator: ", "))) \(options.joined(separator: ", "))")
        tables.append(table)
    }

    private func column(
        _ fallback: String, isKey: Bool, isRowidKey: Bool, isStrict: Bool, earlier: [RandomColumn],
        _ random: inout SplitMix
    ) -> RandomColumn {
        let kind = isKey && isRowidKey ? RandomClass.integer : random.pick(RandomClass.allCases)
        let taken = Set(earlier.map { $0.name.lowercased() })
        let odd = random.pick(RandomSchema.names)
        let name = random.chance(30) && !taken.contains(odd.lowercased()) ? odd : fallback
        var definition =
            isKey && isRowidKey ? "INTEGER" : isStrict ? kind.strictType : random.pick(kind.declaredTypes)
        if random.chance(20), !(isKey && isRowidKey) {
            definition += " COLLATE " + random.pick(["NOCASE", "RTRIM", "BINARY"])
        }
        if isKey {
            let isNotNull = !isRowidKey && random.chance(40)
            if isNotNull { definition += " NOT NULL" }
            return RandomColumn(
                name: name, kind: kind, definition: definition, isGenerated: false, isNotNull: isNotNull,
                isUnique: true,
                defaultValue: nil)
        }
        let sources = earlier.filter { !$0.isGenerated }
        if random.chance(8), let source = sources.randomElement(using: &random) {
            let expression = random.pick([
                "typeof(\(source.sql))", "quote(\(source.sql))", "\(source.sql) IS NULL", "upper(\(source.sql))",
            ])
            let type = isStrict ? "ANY" : definition
            definition = "\(type) GENERATED ALWAYS AS (\(expression)) " + random.pick(["VIRTUAL", "STORED"])
            return RandomColumn(
                name: name, kind: kind, definition: definition, isGenerated: true, isNotNull: false, isUnique: false,
                defaultValue: nil)
        }
        let isNotNull = random.chance(20)
        if isNotNull { definition += " NOT NULL" }
        let isUnique = random.chance(10)
        if isUnique { definition += " UNIQUE" }
        var defaultValue: Value?
        if random.chance(25) {
            let value = kind.defaults(&random)
            definition += " DEFAULT \(value.sql)"
            defaultValue = value.value
        }
        if random.chance(6) { definition += " CHECK (\(RandomSchema.quote(name)) IS NOT 42)" }
        return RandomColumn(
            name: name, kind: kind, definition: definition, isGenerated: false, isNotNull: isNotNull,
            isUnique: isUnique,
            defaultValue: defaultValue)
    }

    // MARK: - Constraints

    private func constraints(of table: inout RandomTable, _ random: inout SplitMix) -> [String] {
        var clauses: [String] = []
        let values = table.values
        if values.count >= 2, random.chance(25) {
            let pair = values.shuffled(using: &random).prefix(2).map { table.columns[$0].sql }
            clauses.append(
                "CHECK (\(pair[0]) IS NULL OR \(pair[1]) IS NULL OR \(pair[0]) IS NOT \(pair[1]) OR \(pair[0]) <> 5)")
        }
        if values.count >= 2, random.chance(20) {
            let pair = values.shuffled(using: &random).prefix(2).map { table.columns[$0].sql }
            clauses.append("UNIQUE (\(pair.joined(separator: ", ")))")
        }
        guard random.chance(45) else { return clauses }
        // A parent is an earlier table or the table itself. The foreign key refers to its whole key.
        let parents = tables + [table]
        let parent = random.chance(35) ? table : random.pick(parents)
        let candidates = table.writable.filter {
            parent.name != table.name || !table.key.contains($0) || random.chance(15)
        }
        var children: [Int] = []
        for part in parent.key {
            guard
                let child = candidates.first(where: {
                    !children.contains($0) && table.columns[$0].kind == parent.columns[part].kind
                })
            else { return clauses }
            children.append(child)
        }
        let actions = ["NO ACTION", "RESTRICT", "SET NULL", "SET DEFAULT", "CASCADE", "CASCADE"]
        let from = children.map { table.columns[$0].sql }.joined(separator: ", ")
        clauses.append(
            "FOREIGN KEY (\(from)) REFERENCES \(parent.sql) (\(parent.keySQL())) ON DELETE \(random.pick(actions)) "
                + "ON UPDATE \(random.pick(actions))" + random.pick(["", " DEFERRABLE INITIALLY DEFERRED"]))
        table.hasForeignKeys = true
        return clauses
    }

    private mutating func addIndexes(_ index: Int, _ random: inout SplitMix) {
        let table = tables[index]
        guard let position = table.values.randomElement(using: &random) else { return }
        let column = table.columns[position].sql
        let other = table.columns[random.pick(table.writable)].sql
        let name = RandomSchema.quote("i\(index) of \(table.name)")
        if random.chance(15) {
            statements.append("CREATE UNIQUE INDEX \(name) ON \(table.sql) (lower(\(column)) DESC, typeof(\(other)))")
        } else if random.chance(15) {
            statements.append(
                "CREATE UNIQUE INDEX \(name) ON \(table.sql)(\(column) COLLATE NOCASE) /* (,) */ WHERE \(other) > 'a' -- )"
            )
        } else if random.chance(15) {
            statements.append("CREATE INDEX \(name) ON \(table.sql) (\(column), \(other) DESC)")
        } else if random.chance(10) {
            statements.append(
                "CREATE UNIQUE INDEX \(name) ON \(table.sql) (\(column) || ',)', \(other)) WHERE \(column) IS NOT NULL")
        }
    }

    // MARK: - Triggers of the user

    /// BEFORE triggers write only to other tables, without triggers and foreign keys: the effect of a BEFORE
    /// trigger on the row itself is undefined (https://sqlite.org/lang_createtrigger.html, section 4).
    private mutating func addTriggers(_ index: Int, _ random: inout SplitMix) {
        let table = tables[index]
        let event = random.pick(["INSERT", "UPDATE", "DELETE"])
        let row = event == "DELETE" ? "OLD" : "NEW"
        let sameRow = table.key.map { "\(table.columns[$0].sql) IS \(row).\(table.columns[$0].sql)" }.joined(
            separator: " AND ")
        let name = RandomSchema.quote("u\(index) on \(table.name)")
        var timing = "AFTER"
        var body: String
        let others = tables.indices.filter { $0 != index }
        if event != "DELETE", random.chance(50), let position = table.values.randomElement(using: &random) {
            let value = RandomLiteral.value(table.columns[position].kind, &random)
            let column = table.columns[position].sql
            body = "UPDATE \(table.sql) SET \(column) = \(value) WHERE \(sameRow) AND \(column) IS NOT \(value)"
        } else if let other = others.randomElement(using: &random) {
            let target = tables[other]
            if !target.hasForeignKeys, !target.hasTriggers, !isParent(target), random.chance(40) { timing = "BEFORE" }
            body = RandomStatement.insert(
                into: target, verb: random.pick(["INSERT OR IGNORE", "INSERT OR REPLACE"]), &random)
            if random.chance(30) { body = RandomStatement.delete(from: target, &random) }
            if random.chance(30) { body = RandomStatement.update(target, verb: "UPDATE", &random) }
        } else {
            body =
                "SELECT CASE WHEN \(row).\(table.columns[table.key[0]].sql) = 3 THEN RAISE(\(random.pick(["ABORT, 'no'", "IGNORE"]))) END"
            timing = "BEFORE"
        }
        statements.append("CREATE TRIGGER \(name) \(timing) \(event) ON \(table.sql) BEGIN \(body); END")
        tables[index].hasTriggers = true
    }

    private func isParent(_ table: RandomTable) -> Bool {
        statements.contains { $0.contains("REFERENCES \(table.sql) ") }
    }
}

import Journal
import TestSupport

/// A random schema of small tables with many clashes: its description, and its SQL.
package struct HistorySchema: Sendable {
    package private(set) var reference = ReferenceSchema()
    package private(set) var statements: [String] = []
    /// Columns and tables that replicas add at different times.
    package private(set) var additions: [Addition] = []

    package enum Addition: Sendable {
        case column(table: String, ReferenceColumn)
        case table(ReferenceTable)
    }

    /// - Parameter variant: The same number gives the same schema.
    package init(variant: UInt64, knobs: HistoryKnobs) {
        var random = SplitMix(seed: variant &* 7_919 &+ 17)
        let count = 1 + random.below(knobs.foreignKeys ? 4 : 2)
        for index in 0..<count { reference.tables.append(HistorySchema.table("t\(index)", knobs, &random)) }
        // A schema does not have every feature: a constraint refuses writes, and few writes find few defects.
        if knobs.uniques, random.chance(75) { for index in 0..<count { addUniques(to: index, &random) } }
        if knobs.foreignKeys, random.chance(60) {
            for index in 0..<count { for _ in 0..<random.below(3) { addForeignKey(to: index, knobs, &random) } }
        }
        if knobs.checks { for index in 0..<count { addCheck(to: index, &random) } }
        statements = reference.tables.flatMap { HistorySchema.sql(of: $0, random: &random) }
        if knobs.schemaSteps { addAdditions(knobs, &random) }
    }

    // MARK: - Parts

    private static func table(_ name: String, _ knobs: HistoryKnobs, _ random: inout SplitMix) -> ReferenceTable {
        let integer = ReferenceColumn(name: "k", isNotNull: true)
        let text = ReferenceColumn(
            name: "l", isText: true, ignoresCase: random.chance(50) && knobs.keySpellings, isNotNull: true)
        let keys = random.pick([[integer], [integer], [text], [integer, text]])
        var columns = keys
        for index in 0...random.below(3) {
            let isText = random.chance(40)
            let isNotNull = random.chance(15)
            columns.append(
                ReferenceColumn(
                    name: "c\(index)", isText: isText, ignoresCase: isText && random.chance(40), isNotNull: isNotNull,
                    defaultValue: isNotNull || random.chance(20) ? (isText ? .text("a") : .integer(1)) : .null))
        }
        var table = ReferenceTable(name: name, columns: columns, keyCount: keys.count)
        table.isWithoutRowid = random.chance(40)
        return table
    }

    private mutating func addUniques(to index: Int, _ random: inout SplitMix) {
        let table = reference.tables[index]
        for _ in 0..<random.pick([0, 1, 1, 2]) {
            let first = random.pick(Array(table.columns.dropFirst(table.keyCount)))
            var terms = [ReferenceUnique.Term(column: first.name, ignoresCase: first.ignoresCase)]
            if random.chance(35) {
                let second = random.pick(table.columns)
                if second.name != first.name {
                    terms.append(.init(column: second.name, ignoresCase: second.ignoresCase))
                }
            }
            var unique = ReferenceUnique(terms: terms)
            if random.chance(20) {
                let column = random.pick(Array(table.columns.dropFirst(table.keyCount)))
                unique.condition = (column.name, column.isText ? .text("a") : .integer(1))
                // An index may have another collation than its column.
                if first.isText { unique.terms[0].ignoresCase = random.chance(50) }
            }
            reference.tables[index].uniques.append(unique)
        }
    }

    private mutating func addForeignKey(to index: Int, _ knobs: HistoryKnobs, _ random: inout SplitMix) {
        let parent = random.pick(reference.tables)
        let number = reference.tables[index].foreignKeys.count
        // A foreign key may reference a whole UNIQUE constraint instead of the key, as long as it compares as
        // its columns do.
        let whole = parent.uniques.filter { unique in unique.condition == nil }
        let target =
            random.chance(30) && !whole.isEmpty ? random.pick(whole).terms.map(\.column) : parent.keyColumns
        var actions = ReferenceForeignKey.Action.allCases
        if !knobs.softKeys { actions.removeAll { $0 == .setNull || $0 == .setDefault } }
        let action = random.pick(actions)
        var columns: [String] = []
        for (place, name) in target.enumerated() {
            guard let model = parent.column(name) else { continue }
            let own = reference.tables[index].columns.prefix(reference.tables[index].keyCount)
            // A key that refers to its own table is excluded: SQLite 3.40 takes rows without a parent there
            // in a multi-row INSERT.
            if target.count == 1, parent.name != reference.tables[index].name, random.chance(15),
                let reused = own.first(where: { $0.isText == model.isText })
            {
                columns.append(reused.name)
                continue
            }
            let column = ReferenceColumn(
                name: "f\(number)\(place)", isText: model.isText, ignoresCase: false, isNotNull: random.chance(15),
                defaultValue: action == .setDefault && random.chance(70)
                    ? (model.isText ? .text("a") : .integer(1)) : .null)
            reference.tables[index].columns.append(column)
            columns.append(column.name)
        }
        if random.chance(15), knobs.uniques {
            let terms = reference.tables[index].columns.filter { columns.contains($0.name) }.map {
                ReferenceUnique.Term(column: $0.name, ignoresCase: $0.ignoresCase)
            }
            reference.tables[index].uniques.append(
                ReferenceUnique(terms: terms))
        }
        reference.tables[index].foreignKeys.append(
            ReferenceForeignKey(columns: columns, parent: parent.name, parentColumns: target, onDelete: action))
    }

    private mutating func addCheck(to index: Int, _ random: inout SplitMix) {
        let table = reference.tables[index]
        let integers = table.columns.dropFirst(table.keyCount).filter { !$0.isText && $0.name.hasPrefix("c") }
        guard integers.count > 1, random.chance(40) else { return }
        reference.tables[index].checks.append(.differ(integers[0].name, integers[1].name))
    }

    private mutating func addAdditions(_ knobs: HistoryKnobs, _ random: inout SplitMix) {
        for index in 0..<random.below(3) {
            let isText = random.chance(40)
            let isNotNull = random.chance(30)
            additions.append(
                .column(
                    table: random.pick(reference.tables).name,
                    ReferenceColumn(
                        name: "a\(index)", isText: isText, isNotNull: isNotNull,
                        defaultValue: isNotNull || random.chance(40) ? (isText ? .text("b") : .integer(2)) : .null)))
        }
        // Where a table is unknown, the collations of its key are unknown, too.
        var knobs = knobs
        knobs.keySpellings = false
        if random.chance(40) { additions.append(.table(HistorySchema.table("n", knobs, &random))) }
    }
}

// MARK: - SQL

extension HistorySchema {
    package static func sql(of table: ReferenceTable, random: inout SplitMix) -> [String] {
        var parts = table.columns.map(sql)
        parts.append("PRIMARY KEY (\(table.keyColumns.joined(separator: ", ")))")
        var indexes: [String] = []
        for (number, unique) in table.uniques.enumerated() {
            let terms = unique.terms.map { "\($0.column) COLLATE \($0.ignoresCase ? "NOCASE" : "BINARY")" }
            if let condition = unique.condition {
                let literal = HistoryStatement.literal(condition.value)
                indexes.append(
                    """
                    CREATE UNIQUE INDEX \(table.name)_u\(number) ON \(table.name) (\(terms.joined(separator: ", "))) \
                    WHERE \(condition.column) = \(literal)
                    """)
            } else {
                parts.append("UNIQUE (\(unique.terms.map(\.column).joined(separator: ", ")))")
            }
        }
        for key in table.foreignKeys {
            parts.append(
                """
                FOREIGN KEY (\(key.columns.joined(separator: ", "))) REFERENCES \(key.parent) \
                (\(key.parentColumns.joined(separator: ", "))) ON DELETE \(key.onDelete.rawValue) \
                ON UPDATE \(random.pick(["NO ACTION", "CASCADE"]))\(random.chance(60) ? " DEFERRABLE INITIALLY DEFERRED" : "")
                """)
        }
        for check in table.checks {
            switch check {
            case .differ(let a, let b): parts.append("CHECK (\(a) <> \(b))")
            case .atMost(let column, let bound): parts.append("CHECK (\(column) <= \(bound))")
            }
        }
        let tail = table.isWithoutRowid ? " WITHOUT ROWID" : ""
        return ["CREATE TABLE \(table.name) (\(parts.joined(separator: ", ")))\(tail)"] + indexes
    }

    static func sql(of column: ReferenceColumn) -> String {
        var text = "\(column.name) \(column.isText ? "TEXT" : "INTEGER")"
        if column.ignoresCase { text += " COLLATE NOCASE" }
        if column.isNotNull { text += " NOT NULL" }
        if column.defaultValue != .null { text += " DEFAULT \(HistoryStatement.literal(column.defaultValue))" }
        return text
    }

    package static func sql(of addition: Addition) -> [String] {
        var random = SplitMix(seed: 1)
        switch addition {
        case .column(let table, let column): return ["ALTER TABLE \(table) ADD COLUMN \(sql(of: column))"]
        case .table(let table): return sql(of: table, random: &random)
        }
    }
}

extension ReferenceSchema {
    package mutating func add(_ addition: HistorySchema.Addition) {
        switch addition {
        case .table(let table): tables.append(table)
        case .column(let name, let column):
            if let index = tables.firstIndex(where: { $0.name == name }) { tables[index].columns.append(column) }
        }
    }
}

/// The SQL of the triggers that write the journal, as a pure function of a table's shape.
///
/// They use built-in functions only, so writes by any process in any language are captured without an
/// extension. They store only what is known at the time of the write: the row, the columns that changed, and
/// the time. The reader derives version, stamp and life (see ``LocalFold``). So a captured write costs one
/// appended row: no lookup, no counter, no index.
///
/// Rules:
/// 1. SQLite runs the newest trigger of a table first. Capture's triggers are the newest (see ``Capture``).
///    So in the journal, a change comes before the changes that the user's own triggers make in response to
///    it.
/// 2. Values are compared by content, not by the column's collation: changing 'a' to 'A' in a NOCASE column
///    is a change.
/// 3. A new row with NULL in its primary key is refused, because no other machine could identify it. Rows
///    that had NULL in their key before `init` can be updated and deleted; their changes are not journalled.
struct CaptureTriggers {
    let table: TableInspection
    let uniqueIndexes: [UniqueIndex]
    /// The id of the table, for the triggers' names.
    let tableID: Int64
    /// The id of the shape that the entries name.
    let shapeID: Int64

    /// One trigger's name and its CREATE statement.
    struct Trigger: Hashable {
        let name: String
        let sql: String
    }

    static func namePrefix(tableID: Int64) -> String { "\(JournalSchema.prefix)_\(tableID)_" }

    var all: [Trigger] {
        var triggers = [insert, delete, keyChange]
        if let update { triggers.append(update) }
        if let evictions = insertEvictions { triggers.append(evictions) }
        if let evictions = updateEvictions { triggers.append(evictions) }
        return triggers
    }

    private var quotedTable: String { SQLText.quote(identifier: table.name) }
    /// The name for the table inside of a trigger. A table named `new` or `old` needs an alias there, because
    /// its name would hide the row of that name.
    private var alias: String {
        ["new", "old"].contains(SQLText.foldedName(table.name)) ? "\"\(JournalSchema.prefix)_self\"" : quotedTable
    }
    private var keys: ArraySlice<TableInspection.Column> { table.stored.prefix(table.keyCount) }

    private func trigger(_ suffix: String, _ timing: String, when condition: String? = nil, body: [String]) -> Trigger {
        let name = CaptureTriggers.namePrefix(tableID: tableID) + suffix
        let clause = condition.map { " WHEN \($0)" } ?? ""
        return Trigger(
            name: name,
            sql: "CREATE TRIGGER \"\(name)\" \(timing) ON \(quotedTable)\(clause) BEGIN "
                + body.map { $0 + ";" }.joined(separator: " ") + " END")
    }

    // MARK: - Rows

    private var insert: Trigger {
        trigger("insert", "AFTER INSERT", body: [appendEntry(.insert, values: rowValues("NEW"))])
    }

    private var delete: Trigger {
        trigger(
            "delete", "AFTER DELETE", when: hasNullableKey ? isNamed("OLD") : nil,
            body: [appendEntry(.delete, values: keyValues("OLD", checked: false))])
    }

    /// Captures a changed row with an unchanged key; nil for a table that has key columns only.
    private var update: Trigger? {
        guard table.stored.count > table.keyCount else { return nil }
        let changed = table.stored.indices.dropFirst(table.keyCount)
        let values =
            keyValues("NEW", checked: false)
            + changed.map { index in
                "CASE WHEN \(differs(table.stored[index])) THEN NEW.\(SQLText.quote(identifier: table.stored[index].name)) END"
            }
        return trigger(
            "update", "AFTER UPDATE",
            when: (hasNullableKey ? "\(isNamed("NEW")) AND " : "")
                + "\(sameKey) AND (\(anyOf(changed.map { differs(table.stored[$0]) })))",
            body: [appendEntry(.update, values: values, mask: maskExpressions)])
    }

    /// Captures a key change as a delete of the old key and an insert of the new key that carries every
    /// column.
    ///
    /// The insert reads the row from the table instead of NEW, because a foreign-key action may already have
    /// changed the row again when the row refers to itself. An UPDATE that names only `rowid` fires no UPDATE
    /// OF trigger, so for a rowid key the trigger watches every UPDATE.
    ///
    /// A 1 in the mask of the delete marks the pair as a key change, in contrast to an unrelated delete and
    /// insert. It is set only when the insert follows, so the pair is always complete.
    private var keyChange: Trigger {
        let columns = keys.map { SQLText.quote(identifier: $0.name) }.joined(separator: ", ")
        let source = keys.map { "t.\(SQLText.quote(identifier: $0.name)) IS NEW.\(SQLText.quote(identifier: $0.name))" }
        let deleteOld =
            "INSERT INTO \(JournalSchema.prefix) (shape, op, stamp, mask, \(valueColumns(table.keyCount))) "
            + "SELECT \(shapeID), \(Operation.delete.rawValue), julianday('now'), "
            + "(SELECT 1 FROM \(quotedTable) AS t WHERE \(source.joined(separator: " AND "))), "
            + keyValues("OLD", checked: false).joined(separator: ", ")
            + " WHERE " + isNamed("OLD")
        let insertNew =
            "INSERT INTO \(JournalSchema.prefix) (shape, op, stamp, \(valueColumns(table.stored.count))) "
            + "SELECT \(shapeID), \(Operation.insert.rawValue), julianday('now'), "
            + (keyValues("NEW", checked: true)
            + table.stored.dropFirst(table.keyCount).map { "t.\(SQLText.quote(identifier: $0.name))" })
            .joined(separator: ", ")
            + " FROM \(quotedTable) AS t WHERE " + source.joined(separator: " AND ")
        return trigger(
            "key", table.hasRowidKey ? "AFTER UPDATE" : "AFTER UPDATE OF \(columns)", when: "NOT (\(sameKey))",
            body: [deleteOld, insertNew])
    }

    // MARK: - Evicted rows

    /// REPLACE removes rows that have a UNIQUE value of the new row. Without `PRAGMA recursive_triggers` no
    /// delete trigger fires for them. These triggers note the eviction candidates of a statement before it
    /// runs; ``DerivedState`` later checks which of them are gone.
    private var insertEvictions: Trigger? {
        guard !uniqueIndexes.isEmpty else { return nil }
        return trigger("evict_insert", "BEFORE INSERT", body: uniqueIndexes.map { noteSuspects($0, unless: "NEW") })
    }

    private var updateEvictions: Trigger? {
        guard !uniqueIndexes.isEmpty else { return nil }
        return trigger("evict_update", "BEFORE UPDATE", body: uniqueIndexes.map { noteSuspects($0, unless: "OLD") })
    }

    private func noteSuspects(_ index: UniqueIndex, unless row: String) -> String {
        let clashes = index.terms.map { term in
            // In the subquery, the bare column names of an indexed expression refer to the new row's columns.
            let new =
                term.column.map { "NEW.\(SQLText.quote(identifier: $0))" }
                ?? "(SELECT \(term.sql) FROM (SELECT \(newRow(for: term.sql))) AS \(alias))"
            let old = term.column == nil ? "(\(term.sql))" : "\(alias).\(term.sql)"
            return "\(old) = \(new) COLLATE \(SQLText.quote(identifier: term.collation))"
        }
        let other = keys.map {
            "\(alias).\(SQLText.quote(identifier: $0.name)) IS \(row).\(SQLText.quote(identifier: $0.name))"
        }.joined(separator: " AND ")
        // In a BEFORE trigger, a rowid that SQLite has not generated yet reads as -1, so an existing row -1
        // may be another row.
        let isMinted =
            row == "NEW" && table.hasRowidKey ? " OR NEW.\(SQLText.quote(identifier: keys[0].name)) = -1" : ""
        // The condition may use the table's name, which the alias hides. Without the condition more
        // candidates are noted, which does no harm.
        let condition = alias == quotedTable ? index.condition.map { ["(\($0))"] } ?? [] : []
        return "INSERT INTO \(JournalSchema.prefix)_suspects (shape, "
            + (0..<table.keyCount).map { "k\($0)" }.joined(separator: ", ") + ") SELECT \(shapeID), "
            + keys.map { "\(alias).\(SQLText.quote(identifier: $0.name))" }.joined(separator: ", ")
            + " FROM \(quotedTable)\(alias == quotedTable ? "" : " AS \(alias)") WHERE "
            + (condition + clashes + ["(NOT (\(other))\(isMinted))"]).joined(separator: " AND ")
    }

    /// The columns of the new row that `expression` uses, under their own names.
    private func newRow(for expression: String) -> String {
        let words = Set(SQLToken.scan(expression).map { SQLText.foldedName($0.name) })
        return table.columns.filter { words.contains(SQLText.foldedName($0.name)) }.map {
            "NEW.\(SQLText.quote(identifier: $0.name)) AS \(SQLText.quote(identifier: $0.name))"
        }.joined(separator: ", ")
    }

    /// True when the installed triggers note the rows that each of ``uniqueIndexes`` can evict.
    func coversEvictions(installed: [String: String]) -> Bool {
        [(insertEvictions, "NEW"), (updateEvictions, "OLD")].allSatisfy { trigger, row in
            guard let trigger else { return true }
            guard let sql = installed[trigger.name] else { return false }
            return uniqueIndexes.allSatisfy { sql.contains(noteSuspects($0, unless: row)) }
        }
    }

    // MARK: - Pieces

    private func appendEntry(_ operation: Operation, values: [String], mask: [String] = []) -> String {
        let maskColumns = mask.indices.map { JournalSchema.maskColumn($0) }
        let columns = (["shape", "op", "stamp"] + maskColumns).joined(separator: ", ")
        return "INSERT INTO \(JournalSchema.prefix) (\(columns), \(valueColumns(values.count))) VALUES ("
            + (["\(shapeID)", "\(operation.rawValue)", "julianday('now')"] + mask + values).joined(separator: ", ")
            + ")"
    }

    private func valueColumns(_ count: Int) -> String {
        (0..<count).map { "v\($0)" }.joined(separator: ", ")
    }

    private func keyValues(_ row: String, checked: Bool) -> [String] {
        keys.map { column in
            let value = "\(row).\(SQLText.quote(identifier: column.name))"
            guard checked, hasNullableKey, !column.isNotNull else { return value }
            let message = "NULL in the primary key of \(table.name) cannot be replicated: declare it NOT NULL"
            return "CASE WHEN \(value) IS NULL THEN RAISE(ABORT, \(SQLText.quote(literal: message))) ELSE \(value) END"
        }
    }

    /// A rowid alias is never NULL, and neither is the key of a WITHOUT ROWID table.
    private var hasNullableKey: Bool {
        !table.isWithoutRowid && !table.hasRowidKey && keys.contains { !$0.isNotNull }
    }

    /// SQL that is true for a row without NULL in its key.
    private func isNamed(_ row: String) -> String {
        keys.map { "\(row).\(SQLText.quote(identifier: $0.name)) IS NOT NULL" }.joined(separator: " AND ")
    }

    private func rowValues(_ row: String) -> [String] {
        keyValues(row, checked: true)
            + table.stored.dropFirst(table.keyCount).map { "\(row).\(SQLText.quote(identifier: $0.name))" }
    }

    /// SQL that is true when the storage class or the content of the column changed.
    private func differs(_ column: TableInspection.Column) -> String {
        let name = SQLText.quote(identifier: column.name)
        let collate = column.collation.uppercased() == "BINARY" ? "" : " COLLATE BINARY"
        let content = "OLD.\(name) IS NOT NEW.\(name)\(collate)"
        guard column.keepsNumericClass else { return content }
        return "(\(content) OR typeof(OLD.\(name)) <> typeof(NEW.\(name)))"
    }

    private var sameKey: String {
        "NOT (\(keys.map(differs).joined(separator: " OR ")))"
    }

    /// An OR of the terms, as a balanced tree when there are many: SQLite limits the depth of an expression
    /// to 1 000.
    private func anyOf(_ terms: [String]) -> String {
        guard terms.count > 32 else { return terms.joined(separator: " OR ") }
        let middle = terms.count / 2
        return "(\(anyOf(Array(terms[..<middle]))) OR \(anyOf(Array(terms[middle...]))))"
    }

    /// One SQL expression for each word of the ``ColumnMask``.
    private var maskExpressions: [String] {
        (0..<JournalSchema.maskWords(forColumns: table.stored.count)).map { word in
            let columns = (word * ColumnMask.bitsPerWord)..<min((word + 1) * ColumnMask.bitsPerWord, table.stored.count)
            let bits = columns.filter { $0 >= table.keyCount }.map { column in
                "(\(differs(table.stored[column])))*\(Int64(1) << Int64(column - columns.lowerBound))"
            }
            return bits.isEmpty ? "0" : bits.joined(separator: "|")
        }
    }
}

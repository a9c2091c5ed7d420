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
/// 4. DROP COLUMN works, although the triggers name the column. SQLite refuses it when a name in a trigger no
///    longer leads anywhere (https://sqlite.org/lang_altertable.html#alter_table_drop_column). It looks for a
///    name in inner scopes first. So each use of a column that can be dropped, which is any outside of the
///    key, stands in a subquery, and the outer query has a row with a column of that name: see
///    ``fallback(_:_:as:)``. That costs a coroutine for each entry, and no lookup.
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

    /// The version of the triggers' text. Files with another one get new triggers at the next contact.
    static let generation: Int64 = 3

    static func namePrefix(tableID: Int64) -> String { "\(JournalSchema.prefix)_\(tableID)_" }

    var all: [Trigger] {
        var triggers = [insert, delete, keyChange]
        if let update { triggers.append(update) }
        if let evictions = insertEvictions { triggers.append(evictions) }
        if let evictions = updateEvictions { triggers.append(evictions) }
        if let minting { triggers.append(minting) }
        return triggers
    }

    private var quotedTable: String { SQLText.quote(identifier: table.name) }
    /// The name for the table inside of a trigger. A table named `new` or `old` needs an alias there, because
    /// its name would hide the row of that name.
    private var alias: String {
        ["new", "old"].contains(SQLText.foldedName(table.name)) ? "\"\(JournalSchema.prefix)_self\"" : quotedTable
    }
    private var keys: ArraySlice<TableInspection.Column> { table.stored.prefix(table.keyCount) }
    private var others: ArraySlice<TableInspection.Column> { table.stored.dropFirst(table.keyCount) }

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
        trigger(
            "insert", "AFTER INSERT",
            body: [
                appendEntry(
                    .insert,
                    values: keyValues("NEW", checked: true).map { "(SELECT \($0))" }
                        + others.map { guarded("NEW", $0) },
                    from: others.isEmpty ? nil : fallback(others, DroppedColumns.markerSQL, as: "new"))
            ])
    }

    /// Marks an insert whose key SQLite chooses. In a BEFORE trigger such a key reads as -1; a program that
    /// gives -1 itself is taken for one that gives none. nil for a table whose key SQLite never chooses.
    private var minting: Trigger? {
        guard table.hasRowidKey else { return nil }
        return trigger(
            "mint", "BEFORE INSERT", when: "NEW.\(SQLText.quote(identifier: keys[0].name)) = -1",
            body: MintedMarks.sql(shape: shapeID))
    }

    private var delete: Trigger {
        trigger(
            "delete", "AFTER DELETE", when: hasNullableKey ? isNamed("OLD") : nil,
            body: [appendEntry(.delete, values: keyValues("OLD", checked: false))])
    }

    /// Captures a changed row with an unchanged key; nil for a table that has key columns only.
    private var update: Trigger? {
        guard table.stored.count > table.keyCount else { return nil }
        let words = maskExpressions
        let masks = words.indices.map { "\"\(JournalSchema.prefix)_\(JournalSchema.maskColumn($0))\"" }
        let old = fallback(others, "NULL", as: "old")
        // LIMIT keeps SQLite from merging the queries, which would compute a mask for each of its uses.
        let source =
            "(SELECT "
            + (zip(words, masks).map { "(SELECT (SELECT \($0)) FROM \(old)) AS \($1)" }
            + others.map { "NULL AS \(SQLText.quote(identifier: $0.name))" }).joined(separator: ", ")
            + " FROM \(fallback(others, "NULL", as: "new")) LIMIT 1) AS new"
        let values = table.stored.indices.dropFirst(table.keyCount).map { index in
            let bit = Int64(1) << Int64(index % ColumnMask.bitsPerWord)
            return
                "CASE WHEN new.\(masks[index / ColumnMask.bitsPerWord]) & \(bit) THEN \(guarded("NEW", table.stored[index])) END"
        }
        return trigger(
            "update", "AFTER UPDATE",
            when: (hasNullableKey ? "\(isNamed("NEW")) AND " : "") + sameKey,
            body: [
                appendEntry(
                    .update, values: keys.map { guarded("NEW", $0) } + values, mask: masks.map { "new.\($0)" },
                    from: source + " WHERE " + masks.map { "new.\($0) <> 0" }.joined(separator: " OR "))
            ])
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
        let source = zip(keys, table.keyTerms).map { "t.\($1) IS NEW.\(SQLText.quote(identifier: $0.name))" }
        let row = "\(quotedTable) AS t WHERE \(source.joined(separator: " AND "))"
        let deleteOld =
            "INSERT INTO \(JournalSchema.prefix) (shape, op, stamp, mask, \(valueColumns(table.keyCount))) "
            + "SELECT \(shapeID), \(Operation.delete.rawValue), julianday('now'), (SELECT 1 FROM \(row)), "
            + keyValues("OLD", checked: false).joined(separator: ", ")
            + " WHERE " + isNamed("OLD")
        let insertNew =
            "INSERT INTO \(JournalSchema.prefix) (shape, op, stamp, \(valueColumns(table.stored.count))) "
            + "SELECT \(shapeID), \(Operation.insert.rawValue), julianday('now'), "
            + (keyValues("NEW", checked: true)
            + others.map { "(SELECT t.\(SQLText.quote(identifier: $0.name)) FROM \(row))" })
            .joined(separator: ", ")
            + (others.isEmpty ? "" : " FROM \(fallback(others, DroppedColumns.markerSQL, as: "t"))")
            + " WHERE EXISTS (SELECT 1 FROM \(row))"
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

    /// The FROM and WHERE clauses that find the row that clashes with the new one in `index`.
    private func clash(in index: UniqueIndex, unless row: String) -> String {
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
        return " FROM \(quotedTable)\(alias == quotedTable ? "" : " AS \(alias)") WHERE "
            + (condition + clashes + ["(NOT (\(other))\(isMinted))"]).joined(separator: " AND ")
    }

    /// At most one row has the new row's value in a unique index, so its key is a scalar.
    private func noteSuspects(_ index: UniqueIndex, unless row: String) -> String {
        let clash = clash(in: index, unless: row)
        let used = table.columns.filter { $0.keyPosition == 0 && index.depends(on: $0.name, of: table) }
        let names = (0..<table.keyCount).map { "k\($0)" }
        let found = zip(keys, names).map { key, name in
            let value = "(SELECT \(alias).\(SQLText.quote(identifier: key.name))\(clash))"
            return
                (used.isEmpty ? value : "(SELECT \(value) FROM \(fallback(used, "NULL", as: alias)))") + " AS \(name)"
        }
        return "INSERT INTO \(JournalSchema.prefix)_suspects (shape, \(names.joined(separator: ", "))) "
            + "SELECT \(shapeID), \(names.joined(separator: ", ")) FROM (SELECT \(found.joined(separator: ", "))"
            + (used.isEmpty ? "" : " FROM \(fallback(used, "NULL", as: "new"))") + " LIMIT 1) WHERE k0 IS NOT NULL"
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
            return uniqueIndexes.allSatisfy { sql.contains(clash(in: $0, unless: row)) }
        }
    }

    // MARK: - Pieces

    /// - Parameter source: What stands after FROM; nil for no FROM clause.
    private func appendEntry(
        _ operation: Operation, values: [String], mask: [String] = [], from source: String? = nil
    ) -> String {
        let maskColumns = mask.indices.map { JournalSchema.maskColumn($0) }
        let columns = (["shape", "op", "stamp"] + maskColumns).joined(separator: ", ")
        let row = (["\(shapeID)", "\(operation.rawValue)", "julianday('now')"] + mask + values).joined(separator: ", ")
        return "INSERT INTO \(JournalSchema.prefix) (\(columns), \(valueColumns(values.count))) "
            + (source.map { "SELECT \(row) FROM \($0)" } ?? "VALUES (\(row))")
    }

    /// A row of the name `row`, in which a name that the table no longer has is found.
    ///
    /// - Parameters:
    ///   - columns: The columns of the row; not empty.
    ///   - value: The value of each, as SQL.
    private func fallback(_ columns: some Collection<TableInspection.Column>, _ value: String, as row: String) -> String
    {
        "(SELECT \(columns.map { "\(value) AS \(SQLText.quote(identifier: $0.name))" }.joined(separator: ", "))) AS \(row)"
    }

    /// A column of the trigger's row, where the FROM clause has a row of the same name. That one would come
    /// first, were it not for the inner scope.
    private func guarded(_ row: String, _ column: TableInspection.Column) -> String {
        "(SELECT \(row).\(SQLText.quote(identifier: column.name)))"
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

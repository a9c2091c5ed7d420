import GRDB
import Journal

/// Changes the tables of the models to what the models declare, as far as the settings allow.
struct AutomaticMigration {
    let context: WriteContext
    let settings: AutomaticSchema
    /// The file has versions of a schema, which may have made its tables.
    let hasVersions: Bool
    private(set) var report: SchemaReport
    /// The folded names of existing tables that were changed, whose rows must be validated.
    private var changedTables: Set<String> = []

    private var db: GRDB.Database { context.db }

    init(_ context: WriteContext, _ settings: AutomaticSchema, hasVersions: Bool, report: SchemaReport) {
        self.context = context
        self.settings = settings
        self.hasVersions = hasVersions
        self.report = report
    }

    mutating func run() throws {
        try rename()
        for model in settings.models { try migrate(model) }
        if !changedTables.isEmpty {
            // Capture must be restored before rows are deleted.
            try context.schemaChanged()
            for model in settings.models { try validate(model) }
        }
    }

    private mutating func validate<M: Model>(_ model: M.Type) throws {
        guard changedTables.contains(SQLText.foldedName(M.schema.table)) else { return }
        do {
            let deleted = try RowValidation.run(model, settings.invalidRows, in: context) { _ in true }
            if deleted > 0 { report.did(.deletedRows(deleted), M.schema.table) }
        } catch let error as StoreError {
            throw error.during("validating rows after a change of the schema", table: M.schema.table)
        }
    }

    // MARK: - Renames

    private mutating func rename() throws {
        let before = report.done.count
        for rename in settings.renames {
            try declare(rename)
            guard let table = try TableInspection.named(rename.table, db) else { continue }
            let quoted = SQLText.quote(identifier: table.name)
            let new = SQLText.quote(identifier: rename.newName)
            if let column = rename.column {
                guard table.has(column), !table.has(rename.newName) else { continue }
                try execute("ALTER TABLE \(quoted) RENAME COLUMN \(SQLText.quote(identifier: column)) TO \(new)", table)
                report.did(.renamedColumn(from: column, to: rename.newName), table.name)
            } else {
                guard try TableInspection.named(rename.newName, db) == nil else { continue }
                try execute("ALTER TABLE \(quoted) RENAME TO \(new)", table)
                report.did(.renamedTable(from: table.name), rename.newName)
            }
        }
        // Text indexes take the new names before the models ask for theirs.
        if report.done.count > before { try TextIndexStore(db).repairTriggers() }
    }

    /// Declares a renamed table to replication, so that machines with the old name continue to exchange with
    /// this one.
    private func declare(_ rename: SchemaRename) throws {
        guard rename.column == nil else { return }
        let exist = try [rename.table, rename.newName].map { try TableInspection.named($0, db) != nil }
        guard exist != [true, true] else { return }
        do {
            if try TableNames.declare(.init(old: rename.table, new: rename.newName), db) { try context.schemaChanged() }
        } catch {
            throw StoreError.wrapping(error, operation: "declaring a renamed table")
        }
    }

    // MARK: - One model

    private mutating func migrate<M: Model>(_ model: M.Type) throws {
        do {
            let declared = try DeclaredTable(model, in: db)
            try dropTextIndexes(besides: M.textIndexes, M.schema)
            if let table = try TableInspection.named(declared.name, db) {
                try change(table, to: declared)
            } else {
                try execute(declared.create())
                report.did(.createdTable, declared.name)
            }
            guard let table = try TableInspection.named(declared.name, db) else {
                throw StoreError(
                    .missingTable, "The table is a view or a virtual table",
                    hint: "Name an ordinary table in the model, or leave the model out of `automatic`.",
                    table: declared.name)
            }
            try IndexSync(db: db, schema: M.schema).run(M.allIndexes, report: &report)
            try makeTextIndexes(M.textIndexes, M.schema, table)
        } catch let error as StoreError {
            throw error.during("following the model", table: M.schema.table)
        }
    }

    private mutating func change(_ table: TableInspection, to declared: DeclaredTable) throws {
        let references = try String.fetchSet(
            db, sql: "SELECT \"from\" FROM pragma_foreign_key_list(?, 'main')", arguments: [table.name])
        let comparison = TableComparison(table, declared, references: Set(references.map(SQLText.foldedName)))
        let isEmpty = try isEmpty(table)
        if !isEmpty { try checkValues(of: comparison.missing, table, declared) }
        let drops = settings.allowed.contains(.dropColumns)
        let plan = try plan(table, declared, comparison, dropping: drops ? comparison.extra : [], isEmpty: isEmpty)
        if let rebuild = plan.rebuild {
            try self.rebuild(table, declared, rebuild.definition, comparison, plan.removal, reason: rebuild.reason)
        } else {
            try alter(table, declared, comparison, plan.removal)
        }
        if !drops { for column in comparison.extra { noteKept(column, table) } }
        for kept in plan.removal.kept {
            report.notDone.append(
                .init(
                    table: table.name, column: kept.column.name,
                    reason: "kept: it is named by \(kept.by.joined(separator: ", "))",
                    remedy: "Drop these in a version of the schema, or give the model a property for the column."))
        }
    }

    /// How the table is changed: by a rebuild with a reason, or by steps that need none.
    private struct Plan {
        var removal = ColumnRemoval()
        var rebuild: (definition: TableDefinition, reason: String)?
    }

    private func plan(
        _ table: TableInspection, _ declared: DeclaredTable, _ comparison: TableComparison,
        dropping columns: [TableInspection.Column], isEmpty: Bool
    ) throws -> Plan {
        var plan = Plan()
        if comparison.key == nil, comparison.differences.isEmpty, columns.isEmpty { return plan }
        let statement =
            try String.fetchOne(
                db, sql: "SELECT sql FROM main.sqlite_master WHERE type = 'table' AND lower(name) = lower(?)",
                arguments: [table.name]) ?? ""
        guard let definition = TableDefinition(statement, of: table) else {
            throw StoreError(
                .invalidSchema, "The statement of the table could not be understood",
                hint: "Leave the model out of `automatic`, and change its table in versions.", table: table.name)
        }
        plan.removal = try ColumnRemoval(columns, of: table, definition, db)
        let isAllowed = settings.allowed.contains(.rebuildTables)
        // An empty table of an automatic schema loses nothing. A table that somebody made is theirs, also where they
        // wrote the statement that an automatic schema would have written.
        guard isAllowed || isEmpty && !hasVersions && definition.isOurs(statement, table) else { return plan }
        let dropping = isAllowed ? plan.removal.constrained.first : nil
        let reason =
            comparison.key ?? comparison.differences.first?.reason
            ?? dropping.map { "\($0.name) has constraints of its own" }
        plan.rebuild = reason.map { (definition, $0) }
        return plan
    }

    private func isEmpty(_ table: TableInspection) throws -> Bool {
        try PreparedStatement(db, "SELECT 1 FROM \(SQLText.quote(identifier: table.name)) LIMIT 1").run {
            try !$0.step()
        }
    }

    /// Fails when existing rows would have no value for a new column.
    private func checkValues(of missing: [DeclaredTable.Column], _ table: TableInspection, _ declared: DeclaredTable)
        throws
    {
        let column = missing.first { column in
            let isKey = declared.keyNames.contains(column.name)
            return !column.isOptional && (isKey ? column.initialValue == nil : column.defaultSQL == nil)
        }
        guard let column else { return }
        throw StoreError(
            .invalidSchema, "The column cannot be added to a table with rows: they would have no value for it",
            hint: "Give the property a default value, make it optional, or add the column in a version.",
            table: table.name, column: column.name)
    }

    /// Makes the changes that need no rebuild, and notes the others.
    private mutating func alter(
        _ table: TableInspection, _ declared: DeclaredTable, _ comparison: TableComparison, _ removal: ColumnRemoval
    ) throws {
        if let reason = comparison.key {
            throw StoreError(
                .keyMismatch, reason, hint: "Allow .rebuildTables, or name the table's key in the model.",
                table: table.name)
        }
        for difference in comparison.differences {
            report.notDone.append(
                .init(
                    table: table.name, column: difference.column, reason: difference.reason,
                    remedy: "Allow .rebuildTables, or change the property."))
        }
        let quoted = SQLText.quote(identifier: table.name)
        for column in comparison.missing {
            try execute("ALTER TABLE \(quoted) ADD COLUMN \(declared.definition(of: column))", table)
            report.did(.addedColumn(column.name), table.name)
        }
        for column in removal.constrained {
            report.notDone.append(
                .init(
                    table: table.name, column: column.name, reason: "kept: it has constraints of its own",
                    remedy: "Allow .rebuildTables too, to drop it with its constraints and values."))
        }
        guard !removal.plain.isEmpty else { return }
        try dropIndexes(removal, table)
        for column in removal.plain {
            try execute("ALTER TABLE \(quoted) DROP COLUMN \(SQLText.quote(identifier: column.name))", table)
            report.did(.droppedColumn(column.name), table.name)
        }
    }

    /// Drops the indexes of models that name a dropped column, which SQLite requires.
    private mutating func dropIndexes(_ removal: ColumnRemoval, _ table: TableInspection) throws {
        for index in removal.indexes {
            try execute("DROP INDEX \(SQLText.quote(identifier: index))", table)
            report.did(.droppedIndex(index), table.name)
        }
    }

    private mutating func noteKept(_ column: TableInspection.Column, _ table: TableInspection) {
        let blocks = column.isNotNull && column.defaultSQL == nil && !column.isGenerated
        report.notDone.append(
            .init(
                table: table.name, column: column.name,
                reason: "kept: the model has no such column"
                    + (blocks ? ", and no row can be created without a value for it" : ""),
                remedy: "Allow .dropColumns to drop it with its values, or give the model a property for it."))
    }

    private mutating func rebuild(
        _ table: TableInspection, _ declared: DeclaredTable, _ definition: TableDefinition,
        _ comparison: TableComparison, _ removal: ColumnRemoval, reason: String
    ) throws {
        try dropIndexes(removal, table)
        var definition = definition
        definition.removeQualifier(table.name)
        definition.drop(removal.dropped)
        for column in declared.columns { definition.adapt(column, isKey: declared.keyNames.contains(column.name)) }
        if comparison.changesKey {
            // A key of the same columns stays the unique index that references need, whatever its type.
            if comparison.key != nil { try checkReferences(toKeyOf: table) }
            definition.setKey(declared.keyNames)
        }
        let initial = comparison.missing.filter { $0.defaultSQL == nil }.compactMap { column in
            column.initialValue.map { (column.name, $0) }
        }
        let lost = try TableRebuild(
            db: db, table: table, definition: definition, name: declared.name, initial: initial
        ).run(settings.invalidRows)
        changedTables.insert(SQLText.foldedName(table.name))
        report.did(.rebuilt(reason: reason), table.name)
        for column in removal.plain + removal.constrained { report.did(.droppedColumn(column.name), table.name) }
        if lost > 0 { report.did(.deletedRows(lost), table.name) }
    }

    /// Fails when a foreign key names the present key, which SQLite would then find no unique index for.
    private func checkReferences(toKeyOf table: TableInspection) throws {
        let key = table.stored.prefix(table.keyCount).map(\.name)
        let references = try IncomingReference.all(of: table.name, db)
        guard let reference = references.first(where: { $0.parents == nil || $0.needs(key) }) else { return }
        throw StoreError(
            .invalidSchema, "The key cannot be changed: \(reference.description) names it",
            hint: "Change that table in a version of the schema first.", table: table.name,
            column: key.count == 1 ? key[0] : nil)
    }

    // MARK: - Text indexes

    /// Drops the text indexes that the model does not declare. This comes first because SQLite does not drop
    /// a column that their triggers name.
    private mutating func dropTextIndexes(besides indexes: [TextIndex], _ schema: ModelSchema) throws {
        let store = TextIndexStore(db)
        let wanted = try indexes.map { try definition($0, schema, schema.table) }
        for known in try store.all()
        where known.isModels && SQLText.same(known.table, schema.table) && !wanted.contains(known) {
            _ = try store.drop(known.name)
            report.did(.droppedTextIndex(known.name), schema.table)
        }
    }

    private mutating func makeTextIndexes(_ indexes: [TextIndex], _ schema: ModelSchema, _ table: TableInspection)
        throws
    {
        for index in indexes {
            let definition = try definition(index, schema, table.name)
            if try TextIndexStore(db).install(definition) {
                report.did(.createdTextIndex(definition.name), table.name)
            }
        }
    }

    private func definition(_ index: TextIndex, _ schema: ModelSchema, _ table: String) throws -> TextIndexDefinition {
        TextIndexDefinition(
            name: index.name(table: table), table: table,
            columns: try index.columns.map { try schema.columnName(of: $0) },
            tokenizer: index.tokenizer.sql, prefixes: index.prefixes, isModels: true)
    }

    private mutating func execute(_ sql: String, _ table: TableInspection? = nil) throws {
        _ = try context.runScript(SQL(raw: sql))
        db.clearSchemaCache()
        if let table { changedTables.insert(SQLText.foldedName(table.name)) }
    }
}

extension TableInspection {
    func has(_ column: String) -> Bool { columns.contains { SQLText.same($0.name, column) } }
}

extension DeclaredTable {
    func has(_ column: String) -> Bool { columns.contains { SQLText.same($0.name, column) } }
}

extension SQLText {
    /// True for two names that SQLite treats as equal.
    static func same(_ a: String, _ b: String) -> Bool { foldedName(a) == foldedName(b) }
}

extension ModelSchema {
    /// Returns the name of the column for the name of a property or column.
    ///
    /// - Throws: ``StoreError/Code/missingColumn``.
    func columnName(of name: String) throws -> String {
        if let column = columns.first(where: { $0.property == name })?.name { return column }
        if let column = columns.first(where: { SQLText.same($0.name, name) })?.name { return column }
        throw StoreError(
            .missingColumn, "The model has no property and no column named \(name)",
            hint: StoreError.names(("property", "properties"), columns.map(\.property)), table: table, column: name)
    }
}

import GRDB
import Journal

/// Changes the tables of the models to what the models declare, as far as the settings allow.
struct AutomaticMigration {
    let context: WriteContext
    let settings: AutomaticSchema
    private(set) var report: SchemaReport
    /// The folded names of existing tables that were changed, whose rows must be validated.
    private var changedTables: Set<String> = []

    private var db: GRDB.Database { context.db }

    init(_ context: WriteContext, _ settings: AutomaticSchema, report: SchemaReport) {
        self.context = context
        self.settings = settings
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
            try IndexSync(db: db, schema: M.schema).run(M.indexes, report: &report)
            try makeTextIndexes(M.textIndexes, M.schema, table)
        } catch let error as StoreError {
            throw error.during("following the model", table: M.schema.table)
        }
    }

    private mutating func change(_ table: TableInspection, to declared: DeclaredTable) throws {
        let isEmpty = try PreparedStatement(db, "SELECT 1 FROM \(SQLText.quote(identifier: table.name)) LIMIT 1").run {
            try !$0.step()
        }
        var reasons: [(column: String?, reason: String)] = []
        let key = table.stored.prefix(table.keyCount).map { SQLText.foldedName($0.name) }
        if Set(key) != Set(declared.keyNames.map(SQLText.foldedName)) {
            reasons.append((nil, "the primary key is (\(key.joined(separator: ", "))), but the model has another key"))
        }
        var missing: [DeclaredTable.Column] = []
        for column in declared.columns {
            guard let present = table.columns.first(where: { SQLText.same($0.name, column.name) }) else {
                missing.append(column)
                continue
            }
            reasons += differences(present, column, isKey: present.keyPosition > 0).map { (column.name, $0) }
        }
        let unaddable = missing.filter { !$0.isOptional && $0.defaultSQL == nil }
        if !unaddable.isEmpty, isEmpty {
            reasons.append((nil, "new columns without a default value"))
        }
        let mayRebuild = isEmpty || settings.allowed.contains(.rebuildTables)
        if !reasons.isEmpty, mayRebuild {
            try rebuild(table, declared, reason: reasons[0].reason, isEmpty: isEmpty)
            return
        }
        for (column, reason) in reasons {
            guard let column else {
                throw StoreError(
                    .keyMismatch, reason, hint: "Allow .rebuildTables, or name the table's key in the model.",
                    table: table.name)
            }
            report.notDone.append(
                .init(
                    table: table.name, column: column, reason: reason,
                    remedy: "Allow .rebuildTables, or change the property."))
        }
        if let column = unaddable.first {
            throw StoreError(
                .invalidSchema, "The column cannot be added to a table with rows: they would have no value for it",
                hint: "Give the property a default value, make it optional, or add the column in a version.",
                table: table.name, column: column.name)
        }
        for column in missing { try add(column, to: table, declared) }
        try dropColumns(of: table, declared)
    }

    private func differences(
        _ present: TableInspection.Column, _ column: DeclaredTable.Column, isKey: Bool
    ) -> [String] {
        var found: [String] = []
        if !column.storage.fits(declaredType: present.declaredType) {
            found.append("the column is \(present.declaredType), but the model stores \(column.storage.rawValue)")
        }
        // A key column without NOT NULL can hold NULL in SQLite
        // (https://sqlite.org/quirks.html#primary_keys_can_sometimes_contain_nulls); capture refuses such
        // tables.
        if !isKey, column.isOptional == present.isNotNull {
            found.append(
                column.isOptional
                    ? "the column is NOT NULL, but the property is optional: saving nil fails"
                    : "the column may hold NULL, but the property is not optional: such a row cannot be decoded")
        }
        return found
    }

    private mutating func add(_ column: DeclaredTable.Column, to table: TableInspection, _ declared: DeclaredTable)
        throws
    {
        try execute(
            "ALTER TABLE \(SQLText.quote(identifier: table.name)) ADD COLUMN \(declared.definition(of: column))", table)
        report.did(.addedColumn(column.name), table.name)
    }

    private mutating func dropColumns(of table: TableInspection, _ declared: DeclaredTable) throws {
        for column in table.columns where !declared.has(column.name) {
            guard settings.allowed.contains(.dropColumns) else {
                noteKept(column, table)
                continue
            }
            // SQLite refuses to drop a column that an index names.
            for index in try IndexSync.indexes(of: table.name, naming: column.name, db) where index.isOurs {
                try execute("DROP INDEX \(SQLText.quote(identifier: index.name))", table)
                report.did(.droppedIndex(index.name), table.name)
            }
            try execute(
                "ALTER TABLE \(SQLText.quote(identifier: table.name)) DROP COLUMN \(SQLText.quote(identifier: column.name))",
                table)
            report.did(.droppedColumn(column.name), table.name)
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

    // MARK: - Rebuilding

    private mutating func rebuild(
        _ table: TableInspection, _ declared: DeclaredTable, reason: String, isEmpty: Bool
    ) throws {
        let dropped = table.columns.filter { !declared.has($0.name) }
        let drops = settings.allowed.contains(.dropColumns)
        var rebuild = TableRebuild(db: db, table: table, declared: declared, keeping: drops ? [] : dropped)
        let lost = try rebuild.run(settings.invalidRows)
        changedTables.insert(SQLText.foldedName(table.name))
        report.did(.rebuilt(reason: reason), table.name)
        for column in dropped {
            if drops { report.did(.droppedColumn(column.name), table.name) } else { noteKept(column, table) }
        }
        if lost > 0 { report.did(.deletedRows(lost), table.name) }
        for object in rebuild.lostObjects {
            report.notDone.append(
                .init(
                    table: table.name, column: nil, reason: "\(object) could not be recreated on the rebuilt table",
                    remedy: "Create it in a version of the schema."))
        }
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
            hint: "Its properties are \(columns.map(\.property).joined(separator: ", ")).", table: table, column: name)
    }
}

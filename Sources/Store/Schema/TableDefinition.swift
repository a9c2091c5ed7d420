import Journal

/// A CREATE TABLE statement in parts, as far as a change of it must understand them
/// (https://sqlite.org/lang_createtable.html).
///
/// SQLite has parsed the statement before it stored it. So the text is well-formed, and this type only finds
/// where each part begins.
struct TableDefinition {
    struct Column {
        let name: String
        var type: String
        var clauses: [TableClause]

        func has(_ kind: TableClause.Kind) -> Bool { clauses.contains { $0.kind == kind } }
    }

    var columns: [Column]
    /// The constraints of the table.
    var constraints: [TableClause]
    let isStrict: Bool
    var isWithoutRowid: Bool

    /// Takes the statement of a table apart; nil when its columns are not those that SQLite reports.
    init?(_ sql: String, of table: TableInspection) {
        let tokens = SQLToken.scan(sql)
        guard let open = tokens.firstIndex(where: { $0.text == "(" }) else { return nil }
        var columns: [Column] = []
        var constraints: [TableClause] = []
        for part in TableDefinition.parts(tokens[(open + 1)...]) {
            if constraints.isEmpty, let name = part.first, !TableClause.beginsConstraint(name) {
                guard columns.count < table.columns.count else { return nil }
                columns.append(
                    Column(
                        name: name.name, type: table.columns[columns.count].declaredType,
                        clauses: TableClause.scan(part.dropFirst())))
            } else {
                // SQLite does not require commas between the constraints of a table.
                constraints += TableClause.scan(part)
            }
        }
        guard columns.map({ SQLText.foldedName($0.name) }) == table.columns.map({ SQLText.foldedName($0.name) })
        else { return nil }
        self.columns = columns
        self.constraints = constraints
        isStrict = table.isStrict
        isWithoutRowid = table.isWithoutRowid
    }

    /// The tokens between the top-level commas, up to the parenthesis that closes the list.
    private static func parts(_ tokens: ArraySlice<SQLToken>) -> [ArraySlice<SQLToken>] {
        var parts: [ArraySlice<SQLToken>] = []
        var start = tokens.startIndex
        var depth = 0
        for (index, token) in zip(tokens.indices, tokens) {
            if depth == 0, token.text == "," || token.text == ")" {
                parts.append(tokens[start..<index])
                start = index + 1
                if token.text == ")" { break }
            }
            if token.text == "(" { depth += 1 }
            if token.text == ")" { depth -= 1 }
        }
        return parts
    }

    /// The statement that creates the table under this name.
    func sql(as name: String) -> String {
        let parts =
            columns.map { column in
                ([SQLText.quote(identifier: column.name), column.type] + column.clauses.map(\.sql))
                    .filter { !$0.isEmpty }.joined(separator: " ")
            } + constraints.map(\.sql)
        let options = [isStrict ? "STRICT" : nil, isWithoutRowid ? "WITHOUT ROWID" : nil].compactMap(\.self)
        return "CREATE TABLE \(SQLText.quote(identifier: name)) (\(parts.joined(separator: ", "))) "
            + options.joined(separator: ", ")
    }

    /// True when `sql` is a statement as automatic schemas write it, also after columns were added and
    /// renamed. Its parts are then only types, NOT NULL, DEFAULT and the key, and every name is quoted.
    func isOurs(_ sql: String, _ table: TableInspection) -> Bool {
        let types = ["INTEGER", "REAL", "TEXT", "BLOB", "ANY"]
        let isPlain = columns.allSatisfy { column in
            types.contains(column.type)
                && column.clauses.allSatisfy {
                    ["NOT NULL", "PRIMARY KEY"].contains($0.sql) || $0.kind == .defaultValue
                }
        }
        return isPlain && isStrict && isWithoutRowid == (table.keyCount > 1)
            && constraints.allSatisfy { $0.kind == .primaryKey }
            && SQLToken.scan(sql).map(\.text) == SQLToken.scan(self.sql(as: table.name)).map(\.text)
    }
}

// MARK: - Changing

extension TableDefinition {
    /// Removes columns, and the constraints of the table that name no other column.
    ///
    /// - Parameter dropped: The folded names of the columns.
    mutating func drop(_ dropped: Set<String>) {
        let all = names
        columns.removeAll { dropped.contains(SQLText.foldedName($0.name)) }
        constraints.removeAll { clause in
            let named = clause.names.intersection(all)
            return clause.kind != .primaryKey && !named.isEmpty && named.isSubset(of: dropped)
        }
    }

    /// Gives the table a column of the model, or the column the model's type, NOT NULL and default value.
    /// Every other part of the column stays, and its own default value too unless the type changes.
    mutating func adapt(_ wanted: DeclaredTable.Column, isKey: Bool) {
        let position = columns.firstIndex { SQLText.same($0.name, wanted.name) }
        var column = position.map { columns[$0] } ?? Column(name: wanted.name, type: "", clauses: [])
        if position == nil || !wanted.storage.fits(declaredType: column.type) {
            // ANY is a type of STRICT tables only; elsewhere it would convert texts to numbers.
            column.type = wanted.storage == .any && !isStrict ? "" : wanted.storage.rawValue
            column.clauses.removeAll { $0.kind == .defaultValue }
        }
        if !isKey {
            column.clauses.removeAll { $0.kind == .null || wanted.isOptional && $0.kind == .notNull }
            if !wanted.isOptional, !column.has(.notNull) { column.clauses.append(TableClause("NOT NULL", .notNull)) }
        }
        if let literal = wanted.defaultSQL, !column.has(.defaultValue), !column.has(.generated) {
            column.clauses.append(TableClause("DEFAULT \(literal)", .defaultValue))
        }
        if let reference = wanted.reference, !column.has(.reference), !hasForeignKey(wanted.name) {
            column.clauses.append(TableClause(reference, .reference))
        }
        if let position { columns[position] = column } else { columns.append(column) }
    }

    /// True when a constraint of the table is a foreign key of this column.
    private func hasForeignKey(_ column: String) -> Bool {
        constraints.contains { $0.kind == .reference && $0.names.contains(SQLText.foldedName(column)) }
    }

    /// Replaces the primary key. Columns that stay in it keep their collations there, and it keeps what a conflict does.
    mutating func setKey(_ key: [String]) {
        let former = (constraints + columns.flatMap(\.clauses)).filter { $0.kind == .primaryKey }
        let collations = former.reduce(into: [:]) { $0.merge($1.keyCollations) { first, _ in first } }
        let onConflict = former.compactMap(\.onConflict).first.map { " \($0)" } ?? ""
        constraints.removeAll { $0.kind == .primaryKey }
        let folded = Set(key.map(SQLText.foldedName))
        var isRowid = false
        for index in columns.indices {
            columns[index].clauses.removeAll { $0.kind == .primaryKey }
            guard folded.contains(SQLText.foldedName(columns[index].name)) else { continue }
            isRowid = key.count == 1 && columns[index].type.uppercased() == "INTEGER"
            if isRowid {
                columns[index].clauses.removeAll { $0.kind == .notNull }
                columns[index].clauses.insert(TableClause("PRIMARY KEY\(onConflict)", .primaryKey), at: 0)
            } else if !columns[index].has(.notNull) {
                columns[index].clauses.append(TableClause("NOT NULL", .notNull))
            }
        }
        if !isRowid {
            let names = key.map { name in
                SQLText.quote(identifier: name) + (collations[SQLText.foldedName(name)].map { " COLLATE \($0)" } ?? "")
            }.joined(separator: ", ")
            constraints.insert(TableClause("PRIMARY KEY (\(names))\(onConflict)", .primaryKey), at: 0)
        }
        // A table with a composite key is stored as its own index, like a new one (`DeclaredTable.create`).
        if key.count > 1 { isWithoutRowid = true }
    }

    /// Takes the table's name away from the columns in checks and generated columns, because a rebuilt table has another
    /// name until it takes the place of the former one.
    mutating func removeQualifier(_ table: String) {
        for index in constraints.indices { constraints[index].removeQualifier(table) }
        for column in columns.indices {
            for index in columns[column].clauses.indices { columns[column].clauses[index].removeQualifier(table) }
        }
    }

    /// The folded names of the columns.
    var names: Set<String> { Set(columns.map { SQLText.foldedName($0.name) }) }
}

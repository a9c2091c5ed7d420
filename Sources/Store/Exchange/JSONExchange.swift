import Journal

/// The treatment of an imported row whose key exists already.
public enum ExistingRows: Sendable {
    /// The whole import fails.
    case fail
    /// The existing row is not changed.
    case skip
    /// The existing row takes the imported values; columns that the import does not name are not changed.
    case update
}

extension Model {
    /// Returns the rows as JSON: an array with one object for each row, one per line, of column names and
    /// stored values.
    ///
    /// The JSON is exact: every Int64 and double reads back to its last bit, a blob is
    /// `{"blob": "<base64>"}`, and 1 is distinct from 1.0. Rows are exported as they are stored, even when
    /// the model cannot decode them.
    ///
    /// ```swift
    /// let json = try Person.exportJSON("WHERE age > \(18) ORDER BY name", in: db)
    /// let count = try Person.importJSON(json, existing: .update, in: other)
    /// ```
    ///
    /// - Parameters:
    ///   - tail: The SQL after `SELECT … FROM table`. Without it, all rows in the order of the key.
    ///   - database: The database to export from.
    /// - Returns: The complete JSON in memory; `[]` when there are no rows.
    /// - Throws: ``StoreError``: `sql`, `missingTable` and `missingColumn` for SQL that SQLite does not
    ///   accept; `argumentCount`; `unstorable` for a value of `tail` that cannot be bound; `closed`.
    public static func exportJSON(_ tail: SQL? = nil, in database: Database) throws -> String {
        var json = ""
        try exportJSON(tail, in: database) { json += $0 }
        return json
    }

    /// Returns this object as a JSON object of column names and stored values.
    ///
    /// - Throws: ``StoreError/Code/unstorable`` for a value that cannot be stored. Only an unsaved object can
    ///   have one.
    public func exportJSON() throws -> String {
        let values = try encodedValues
        return JSONValue.object(
            Self.schema.columns.map { .init(name: $0.name, value: JSONValue(values[$0.name] ?? .null)) }
        ).spacedText
    }

    /// Creates a row for each object of a JSON array, or for a single object, in one transaction.
    ///
    /// - Parameters:
    ///   - json: JSON as ``exportJSON(_:in:)`` writes it. Names may be those of properties or columns, and
    ///     `true` and `false` mean 1 and 0. A missing key is generated. Other forms are read where the exact
    ///     one does not fit the property: dates in ISO 8601, UUIDs in upper case, arrays and objects for
    ///     `@JSON`, integer keys and references as text.
    ///   - existing: The treatment of an object whose key exists already.
    ///   - database: The database to import into.
    /// - Returns: The number of rows created or changed.
    /// - Throws: ``StoreError/Code/invalidInput`` for text that is not JSON, or has names that the model does
    ///   not have; ``StoreError/Code/undecodable`` for a value of the wrong type; what ``create(in:_:)``
    ///   throws. Nothing is imported then.
    @discardableResult
    public static func importJSON(
        _ json: String, existing: ExistingRows = .fail, in database: Database
    ) throws -> Int {
        let rows = try rows(of: json)
        return try database.transaction {
            var count = 0
            for (index, row) in rows.enumerated() {
                do {
                    if try importRow(row, existing, in: database) { count += 1 }
                } catch let error as StoreError {
                    throw error.setting(during: "importing").inElement(index, of: rows.count)
                }
            }
            return count
        }
    }

    private static func rows(of json: String) throws -> [[String: Value]] {
        let elements: [JSONValue]
        do {
            let value = try JSONParser.parse(json)
            if case .array(let list) = value { elements = list } else { elements = [value] }
        } catch {
            throw StoreError(
                .invalidInput, "The text is not valid JSON: \(error)",
                hint: "Correct the text at that byte; JSON has no comments and no trailing commas.",
                table: schema.table,
                operation: "importing")
        }
        return try elements.enumerated().map { index, element in
            guard case .object(let members) = element else {
                throw StoreError(
                    .invalidInput, "It is not a JSON object", hint: "Write an array of objects.",
                    table: schema.table, operation: "importing"
                ).inElement(index, of: elements.count)
            }
            var values: [String: Value] = [:]
            for member in members {
                do {
                    values[member.name] = try value(of: member)
                } catch {
                    throw StoreError.undecodable(column: member.name, error).during("importing", table: schema.table)
                        .inElement(index, of: elements.count)
                }
            }
            return values
        }
    }

    /// The stored value of a member: as it is written, when the property can have it, else as other programs
    /// write it.
    private static func value(of member: JSONValue.Member) throws -> Value {
        let exact = Result { try member.value.columnValue }
        guard let position = position(of: member.name) else { return try exact.get() }
        var fields = Fields()
        if let value = try? exact.get(), (try? fields._set(position, to: value)) != nil { return value }
        return try stored(fromBorder: member.value, position) ?? exact.get()
    }

    private static func importRow(_ values: [String: Value], _ existing: ExistingRows, in database: Database) throws
        -> Bool
    {
        var fields = Fields()
        try set(values, in: &fields)
        let isKeyGiven = schema.key.allSatisfy { !fields._unset.contains($0) }
        if existing != .fail, isKeyGiven, let object = try find(fields._key, in: database) {
            return try existing == .update && object.save(fields: values)
        }
        try create(fields: values, in: database)
        return true
    }
}

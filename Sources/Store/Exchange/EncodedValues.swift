import Journal

extension Model {
    /// The values of this object by column name, in SQLite's storage classes, exactly as they are stored. A property with
    /// `@Column(unknown:)` has the case that it shows. Reading them counts as reading ``values``.
    ///
    /// - Throws: ``StoreError/Code/unstorable`` for a value that cannot be stored. Only an unsaved object can
    ///   have one.
    public var encodedValues: [String: Value] {
        get throws { try Self.encodedValues(of: values) }
    }

    static func encodedValues(of fields: Fields) throws -> [String: Value] {
        var values: [String: Value] = [:]
        for (position, column) in schema.columns.enumerated() {
            do {
                values[column.name] = try fields._value(position)
            } catch {
                throw StoreError.unstorable(error, column: column.name)
            }
        }
        return values
    }

    /// Sets properties of `fields` from values in SQLite's storage classes.
    ///
    /// - Parameters:
    ///   - values: The values by name of property or column. Properties without a value here keep theirs.
    ///   - fields: The values of a row that is being created or saved.
    /// - Throws: ``StoreError/Code/invalidInput`` for a name that the model does not have or that is given
    ///   twice; ``StoreError/Code/undecodable`` for a value that the property's type cannot decode. `fields`
    ///   is unchanged then.
    public static func set(_ values: [String: Value], in fields: inout Fields) throws {
        var draft = fields
        var seen = ColumnSet()
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            guard let position = position(of: name) else {
                throw StoreError(
                    .invalidInput, "The model has no property and no column named \(name)",
                    hint: StoreError.names(("property", "properties"), schema.columns.map(\.property)),
                    table: schema.table, column: name)
            }
            guard !seen.contains(position) else {
                throw StoreError(
                    .invalidInput, "A value is given both for the property and for its column",
                    hint: "Leave one of the two names out.", table: schema.table, column: schema.columns[position].name)
            }
            seen.insert(position)
            do {
                try draft._set(position, to: value)
            } catch {
                throw StoreError.undecodable(column: schema.columns[position].name, error)
                    .during("setting", table: schema.table)
            }
        }
        fields = draft
    }

    static func position(of name: String) -> Int? {
        schema.columns.firstIndex { $0.property == name }
            ?? schema.columns.firstIndex { SQLText.same($0.name, name) }
    }

    /// Creates a row from values in SQLite's storage classes.
    ///
    /// ```swift
    /// let bob = try Person.create(fields: ["name": .text("Bob"), "age": .integer(42)], in: db)
    /// ```
    ///
    /// - Throws: What ``set(_:in:)`` and ``create(in:_:)`` throw; no row exists then.
    @discardableResult
    public static func create(fields values: [String: Value], in database: Database) throws -> Self {
        do { return try create(in: database) { try set(values, in: &$0) } } catch let error as StoreError {
            throw error.setting(during: "creating")
        }
    }

    /// Sets columns of the row to values in SQLite's storage classes. Columns that are not named keep their
    /// values.
    ///
    /// - Returns: True when something was written.
    /// - Throws: What ``set(_:in:)`` and ``save(_:)`` throw; the object and the file are unchanged then.
    @discardableResult
    public func save(fields values: [String: Value]) throws -> Bool {
        do { return try save { try Self.set(values, in: &$0) } } catch let error as StoreError {
            throw error.setting(during: "saving")
        }
    }
}

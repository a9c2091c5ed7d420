/// SQL text with the values that bind to its parameters.
///
/// An interpolated value is bound; it never becomes text, so it can neither break the SQL nor change its
/// meaning. Interpolate text that is meant as SQL with `raw:`. An interpolated `SQL` is inserted with its own
/// values.
///
/// ```swift
/// let adults: SQL = "age >= \(18)"
/// try Person.where("\(adults) AND name = \(name)").order(.sql("\(raw: column)")).all(in: db)
/// ```
public struct SQL: Sendable, ExpressibleByStringInterpolation {
    /// The text, with a `?` for each bound value.
    public private(set) var text: String
    /// The values, in the order of their `?`.
    public private(set) var bindings: [any ColumnValue]

    public init(stringLiteral value: String) {
        text = value
        bindings = []
    }

    /// Creates SQL from text. Never pass text from an untrusted source.
    public init(raw text: String) { self.init(stringLiteral: text) }

    public init(stringInterpolation: Interpolation) {
        text = stringInterpolation.text
        bindings = stringInterpolation.bindings
    }

    /// The interpolation of an SQL literal: values are bound, except `SQL` itself and text marked with
    /// `raw:`.
    public struct Interpolation: StringInterpolationProtocol {
        var text = ""
        var bindings: [any ColumnValue] = []

        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount)
            bindings.reserveCapacity(interpolationCount)
        }

        public mutating func appendLiteral(_ literal: String) { text += literal }

        /// Binds one value. nil binds NULL, which no value equals under `=`: write `IS` for a value that may
        /// be nil.
        public mutating func appendInterpolation(_ value: some ColumnValue) {
            text += "?"
            bindings.append(value)
        }

        /// Binds one value, or NULL for nil.
        public mutating func appendInterpolation(_ value: (some ColumnValue)?) {
            text += "?"
            bindings.append(value)
        }

        /// Binds each value of a list, separated by commas: `id IN (\(ids))`. An empty list leaves the
        /// parentheses empty, which is an empty set in SQLite.
        public mutating func appendInterpolation(_ values: [some ColumnValue]) {
            text += values.map { _ in "?" }.joined(separator: ", ")
            bindings.append(contentsOf: values.map { $0 as any ColumnValue })
        }

        /// Inserts SQL with its own values.
        public mutating func appendInterpolation(_ sql: SQL) {
            text += sql.text
            bindings.append(contentsOf: sql.bindings)
        }

        /// Inserts text as SQL. Never pass text from an untrusted source.
        public mutating func appendInterpolation(raw text: String) { self.text += text }
    }

    mutating func bind(_ values: [any ColumnValue]) { bindings.append(contentsOf: values) }

    /// Concatenates the two texts, without a space between them, and their values.
    public static func + (a: SQL, b: SQL) -> SQL {
        var sum = a
        sum.text += b.text
        sum.bindings += b.bindings
        return sum
    }

    /// Creates SQL with values for its `?`, in their order.
    ///
    /// - Throws: ``StoreError/Code/argumentCount`` when the text binds interpolated values already.
    public init(_ sql: SQL, arguments: [(any ColumnValue)?]) throws { self = try sql.binding(arguments) }

    /// Creates SQL with values for its parameters by name: `:name`, `@name` or `$name`. A name may occur
    /// several times.
    ///
    /// ```swift
    /// let sql = try SQL("age > :age AND name <> :name", named: ["age": 18, "name": "Bob"])
    /// let people = try Person.where(sql).all(in: db)
    /// ```
    ///
    /// - Throws: ``StoreError/Code/argumentCount`` for a parameter without a value, and for a value without a
    ///   parameter.
    public init(_ sql: SQL, named values: [String: (any ColumnValue)?]) throws {
        guard sql.bindings.isEmpty else {
            throw StoreError(
                .argumentCount, "Values are given both inside the SQL and by name", hint: "Use one of the two ways.")
        }
        let (text, names) = SQLPlaceholders.positional(sql.text, names: Set(values.keys))
        let unused = Set(values.keys).subtracting(names)
        guard unused.isEmpty else {
            throw StoreError(
                .argumentCount,
                "The SQL has no parameter for the \(unused.count == 1 ? "name" : "names") "
                    + unused.sorted().joined(separator: ", "),
                hint: "Write each name in the SQL, as `:name`.")
        }
        self.text = text
        bindings = names.map { name in (values[name] ?? nil) ?? Value.null }
    }

    /// Returns the SQL with `arguments` for its `?`.
    ///
    /// - Throws: ``StoreError/Code/argumentCount`` when the text already binds interpolated values: the `?`
    ///   of the two could not be distinguished.
    func binding(_ arguments: [(any ColumnValue)?]) throws -> SQL {
        if arguments.isEmpty { return self }
        guard bindings.isEmpty else {
            throw StoreError(
                .argumentCount, "Values are given both inside the SQL and after it", hint: "Use one of the two ways."
            )
        }
        var result = self
        result.bindings = arguments.map { $0 ?? Value.null }
        return result
    }

    /// Returns the SQL with a model's table and key in place of `$T` and `$PK`, outside quotes and comments.
    ///
    /// - Parameter table: The quoted name of the table, or of an alias for it, which also qualifies the key.
    ///   Without it, the key is not qualified.
    func expanding(_ schema: ModelSchema, table: String? = nil) -> SQL {
        guard text.utf8.contains(UInt8(ascii: "$")) else { return self }
        var result = self
        let keys = table.map { schema.keyList(from: $0) }
        result.text = SQLPlaceholders.expand(
            text, table: table ?? schema.quotedTable,
            key: keys.map { schema.key.count == 1 ? $0 : "(\($0))" } ?? schema.quotedKey)
        return result
    }
}

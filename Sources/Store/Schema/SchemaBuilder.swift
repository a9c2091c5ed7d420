/// Declares the versions of a schema, oldest first.
///
/// ```swift
/// let db = try Database(path: path) { schema in
///     schema.version(1) { try $0.execute("CREATE TABLE Person (id INTEGER PRIMARY KEY, name TEXT NOT NULL)") }
///     schema.version(2) { try $0.execute("ALTER TABLE Person ADD COLUMN email TEXT") }
/// }
/// ```
///
/// A version that was released is never changed; what is new goes into the next one.
public struct SchemaBuilder {
    private(set) var versions: [SchemaVersion] = []

    /// - Parameters:
    ///   - number: 1 or more, greater than the one before.
    ///   - steps: What leads from the version before to this one. Runs once for each file, in the transaction that opens it.
    public mutating func version(_ number: Int, _ steps: @escaping (SchemaStep) throws -> Void) {
        versions.append(SchemaVersion(number: number, steps: steps))
    }

    /// - Throws: ``StoreError/Code/invalidSchema`` for numbers that do not rise, or do not fit SQLite's 32 bits.
    func checked() throws -> [SchemaVersion] {
        var last = 0
        for version in versions {
            guard version.number > last, version.number <= Int32.max else {
                throw StoreError(
                    .invalidSchema, "version \(version.number) of the schema stands after version \(last)",
                    hint: "Number the versions from 1 on, each greater than the one before.")
            }
            last = version.number
        }
        return versions
    }
}

struct SchemaVersion {
    let number: Int
    let steps: (SchemaStep) throws -> Void
}

/// The database as the steps of one version see it: inside of the transaction that brings the schema up to date.
public struct SchemaStep {
    let database: Database

    /// Runs SQL: a statement with its values, or a script without any.
    @discardableResult
    public func execute(_ sql: SQL, _ arguments: (any ColumnValue)?...) throws -> Int {
        try database.execute(sql.binding(arguments), operation: "changing the schema")
    }

    /// The rows of a SELECT, for steps that move data.
    public func rows(_ sql: SQL) throws -> [SQLRow] { try database.rows(sql) }

    public func value<T: ColumnValue>(_ type: T.Type, _ sql: SQL) throws -> T? { try database.value(type, sql) }
}

import Journal

/// Declares the schema of a database: versions, oldest first, and models that it follows by itself.
///
/// ```swift
/// let db = try Database(path: path) { schema in
///     schema.version(1) { try $0.execute("CREATE TABLE Person (id INTEGER PRIMARY KEY, name TEXT NOT NULL)") }
///     schema.version(2) { try $0.execute("ALTER TABLE Person ADD COLUMN email TEXT") }
///     schema.automatic(Department.self)
/// }
/// ```
///
/// A version that was released is never changed; what is new goes into the next one. Versions run first, then the automatic
/// part; all of it is one transaction, and capture follows in it.
public struct SchemaBuilder {
    private(set) var versions: [SchemaVersion] = []
    private(set) var automatic: [AutomaticSchema] = []
    private(set) var localTables: [String] = []
    private(set) var renamedTables: [TableNames.Renaming] = []

    /// - Parameters:
    ///   - number: 1 or more, greater than the one before.
    ///   - rebuildsTables: True when the steps drop and make anew tables that others refer to: foreign keys are then off while
    ///     they run, and are checked at the end (https://sqlite.org/lang_altertable.html#otheralter).
    ///   - steps: What leads from the version before to this one. Runs once for each file, in the transaction that opens it.
    public mutating func version(
        _ number: Int, rebuildsTables: Bool = false, _ steps: @escaping (SchemaStep) throws -> Void
    ) {
        versions.append(SchemaVersion(number: number, rebuildsTables: rebuildsTables, steps: steps))
    }

    /// Lets the tables of these models follow their declarations at each opening: tables are made, columns added, and
    /// indexes made and dropped. What would lose data is done only when it is allowed; what is left undone, and why, is told by
    /// ``Database/schemaReport``.
    ///
    /// ```swift
    /// schema.automatic(Person.self, Department.self, renaming: [.column("nick", to: "nickname", in: "Person")])
    /// ```
    ///
    /// A new table is STRICT. Its columns take type and NOT NULL from the properties, and DEFAULT from their initial values.
    ///
    /// - Parameters:
    ///   - models: Those whose tables follow.
    ///   - allowed: Steps that lose data or rewrite tables. None by default.
    ///   - renames: Old names of tables and columns. Done before anything else.
    ///   - invalidRows: What becomes of rows of a changed table that do not decode as the model, or break a constraint of the
    ///     rebuilt one.
    public mutating func automatic(
        _ models: any Model.Type..., allowing allowed: DestructiveSteps = [], renaming renames: [SchemaRename] = [],
        invalidRows: InvalidRows = .fail
    ) {
        automatic.append(
            AutomaticSchema(models: models, allowed: allowed, renames: renames, invalidRows: invalidRows))
    }

    /// Keeps these tables of this file out of the journal: they stay on this machine, and may have keys that SQLite mints.
    /// Other machines may decide otherwise.
    ///
    /// ```swift
    /// schema.local("Draft", "Cache")
    /// ```
    public mutating func local(_ tables: String...) { localTables += tables }

    /// Tells that a table got another name in one of the versions, so that machines which still use the old one go on exchanging with
    /// this one, both ways. Without it a renamed table is a new one, and the old one ends here.
    ///
    /// ```swift
    /// schema.renamed("Person", to: "Contact")
    /// schema.version(3) { try $0.execute("ALTER TABLE Person RENAME TO Contact") }
    /// ```
    ///
    /// Declarations come before all versions, in the order in which the names were given, and stay for as long as any machine uses the
    /// old name.
    public mutating func renamed(_ old: String, to new: String) { renamedTables.append(.init(old: old, new: new)) }

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
    let rebuildsTables: Bool
    let steps: (SchemaStep) throws -> Void
}

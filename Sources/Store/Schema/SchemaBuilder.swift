import Journal

/// Declares the schema of a database: versions, oldest first, and models whose tables are migrated
/// automatically.
///
/// ```swift
/// let db = try Database(path: path) { schema in
///     schema.version(1) {
///         try $0.execute("CREATE TABLE Person (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
///     }
///     schema.version(2) { try $0.execute("ALTER TABLE Person ADD COLUMN email TEXT") }
///     schema.automatic(Department.self)
/// }
/// ```
///
/// Never change a version that was released; put later changes into the next version. Versions run first,
/// then the automatic part. All of it is one transaction, which also updates capture.
public struct SchemaBuilder {
    private(set) var versions: [SchemaVersion] = []
    private(set) var automatic: [AutomaticSchema] = []
    private(set) var localTables: [String] = []
    private(set) var renamedTables: [TableNames.Renaming] = []

    /// Declares the next version of the schema.
    ///
    /// - Parameters:
    ///   - number: 1 or more, and greater than the number before.
    ///   - rebuildsTables: True when the steps drop and recreate tables to which others refer. Foreign keys
    ///     are then off while the steps run, and are checked at the end
    ///     (https://sqlite.org/lang_altertable.html#otheralter).
    ///   - steps: Change the schema from the version before to this one. They run once for each file, in the
    ///     transaction that opens it.
    public mutating func version(
        _ number: Int, rebuildsTables: Bool = false, _ steps: @escaping (SchemaStep) throws -> Void
    ) {
        versions.append(SchemaVersion(number: number, rebuildsTables: rebuildsTables, steps: steps))
    }

    /// Migrates the tables of these models to their declarations at each opening: creates tables, adds
    /// columns, and creates and drops indexes. Steps that would lose data run only when they are allowed.
    /// ``Database/schemaReport`` lists what was left unchanged and why.
    ///
    /// ```swift
    /// schema.automatic(
    ///     Person.self, Department.self, renaming: [.column("nick", to: "nickname", in: "Person")])
    /// ```
    ///
    /// A new table is STRICT. Its columns take type and NOT NULL from the properties, and DEFAULT from their
    /// default values.
    ///
    /// - Parameters:
    ///   - models: The models whose tables are migrated.
    ///   - allowed: Steps that lose data or rewrite tables. None by default.
    ///   - renames: Renames of tables and columns, which run before everything else.
    ///   - invalidRows: The treatment of rows of a changed table that the model cannot decode, or that break
    ///     a constraint of the rebuilt table.
    public mutating func automatic(
        _ models: any Model.Type..., allowing allowed: DestructiveSteps = [], renaming renames: [SchemaRename] = [],
        invalidRows: InvalidRows = .fail
    ) {
        automatic.append(
            AutomaticSchema(models: models, allowed: allowed, renames: renames, invalidRows: invalidRows))
    }

    /// Keeps these tables of this file out of the journal: their rows stay on this machine, and SQLite may
    /// generate their keys. The setting holds for this file only.
    ///
    /// ```swift
    /// schema.local("Draft", "Cache")
    /// ```
    public mutating func local(_ tables: String...) { localTables += tables }

    /// Declares that one of the versions renames a table, so that machines with the old name and this one
    /// continue to exchange its rows in both directions. Without the declaration, a renamed table is a new
    /// table, and the old table ends here.
    ///
    /// ```swift
    /// schema.renamed("Person", to: "Contact")
    /// schema.version(3) { try $0.execute("ALTER TABLE Person RENAME TO Contact") }
    /// ```
    ///
    /// Call this before the versions, in the order in which the names were given, and keep the call as long
    /// as any machine uses the old name.
    public mutating func renamed(_ old: String, to new: String) { renamedTables.append(.init(old: old, new: new)) }

    /// Returns the versions after a check of their numbers.
    ///
    /// - Throws: ``StoreError/Code/invalidSchema`` for numbers that do not ascend, or do not fit SQLite's 32
    ///   bits.
    func checked() throws -> [SchemaVersion] {
        var last = 0
        for version in versions {
            guard version.number > last, version.number <= Int32.max else {
                throw StoreError(
                    .invalidSchema, "Version \(version.number) of the schema comes after version \(last)",
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

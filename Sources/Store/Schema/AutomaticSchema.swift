/// The steps of an automatic schema that lose data or rewrite a table. None of them runs unless it is
/// allowed.
public struct DestructiveSteps: OptionSet, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Drops columns that the model does not have, with their values. A column with a constraint of its own,
    /// such as UNIQUE, is dropped only together with ``rebuildTables``. A column that another column's
    /// constraint, a generated column or an index of somebody else names is kept; the report names these.
    public static let dropColumns = DestructiveSteps(rawValue: 1)
    /// Rebuilds a table with its rows when types, NOT NULL or the primary key differ from the model's. All
    /// other constraints, default values, indexes and triggers of the table stay. A value that has no exact
    /// form in the new type makes its row invalid. Opening throws ``StoreError/Code/invalidSchema`` when an
    /// index, a trigger or a view does not fit the rebuilt table.
    public static let rebuildTables = DestructiveSteps(rawValue: 2)
}

/// A rename of a table or column. It has no effect when the table or column has the new name already.
public struct SchemaRename: Hashable, Sendable {
    let table: String
    let column: String?
    let newName: String

    /// Renames the table `old`.
    public static func table(_ old: String, to new: String) -> SchemaRename {
        SchemaRename(table: old, column: nil, newName: new)
    }

    /// Renames the column `old` of `table`.
    public static func column(_ old: String, to new: String, in table: String) -> SchemaRename {
        SchemaRename(table: table, column: old, newName: new)
    }
}

/// The treatment of rows that a changed schema does not admit.
public enum InvalidRows: Hashable, Sendable {
    /// The first such row fails the migration, and nothing is changed.
    case fail
    /// The rows are deleted. The journal records the deletions, so replication deletes the rows on other
    /// machines too.
    case delete
}

/// The models that an automatic schema follows, and its settings.
struct AutomaticSchema {
    var models: [any Model.Type]
    var allowed: DestructiveSteps
    var renames: [SchemaRename]
    var invalidRows: InvalidRows
}

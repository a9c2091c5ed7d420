/// The steps of an automatic schema that lose data or rewrite a table; none is taken unless it is asked for.
public struct DestructiveSteps: OptionSet, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Drops columns that the model does not have, with their values.
    public static let dropColumns = DestructiveSteps(rawValue: 1)
    /// Makes a table anew, with its rows, where types, NOT NULL or the primary key differ from the model's. The value of a row
    /// that has no exact form in the new type makes the row an invalid one.
    public static let rebuildTables = DestructiveSteps(rawValue: 2)
}

/// A table or column that had another name. Once it has the new one, nothing is done.
public struct SchemaRename: Hashable, Sendable {
    let table: String
    let column: String?
    let newName: String

    /// The table was called `old`.
    public static func table(_ old: String, to new: String) -> SchemaRename {
        SchemaRename(table: old, column: nil, newName: new)
    }

    /// The column of `table` was called `old`.
    public static func column(_ old: String, to new: String, in table: String) -> SchemaRename {
        SchemaRename(table: table, column: old, newName: new)
    }
}

/// What becomes of rows that a changed schema does not admit.
public enum InvalidRows: Hashable, Sendable {
    /// The first one fails the migration, and nothing is changed.
    case fail
    /// They are deleted. The journal shows it like every delete, so they go on other machines too.
    case delete
}

/// Which models a schema follows, and how far.
struct AutomaticSchema {
    var models: [any Model.Type]
    var allowed: DestructiveSteps
    var renames: [SchemaRename]
    var invalidRows: InvalidRows
}

/// Why a table does not show what the journal holds: the words in `_journal_held.reason` and
/// ``HeldEntry/reason``.
public enum HoldReason: String, Sendable, Hashable, CaseIterable {
    // MARK: - Of a row that its table does not show, or shows with other values

    /// Another row holds one of its UNIQUE values by an earlier claim.
    case unique
    /// The row that one of its foreign keys refers to is not shown.
    case foreignKey = "foreign_key"
    /// A column that is NOT NULL here has no value.
    case notNull = "not_null"
    /// Its values violate a CHECK of the table here.
    case check
    /// A value has a type that the table does not store.
    case datatype
    /// The local table would convert its key to another one.
    case key
    /// An update arrived before the insert of its row.
    case incomplete
    /// The function that merges concurrent changes of the table is not registered here.
    case policy

    // MARK: - Of changes that no row can show

    /// The table is not in this file.
    case missingTable = "missing_table"
    /// A column is not in this file.
    case missingColumn = "missing_column"
    /// The table in this file has another primary key, so rows cannot be matched.
    case differentKey = "different_key"
    /// Only the program that defined the table in this file can write it; see `ApplicationDefined`.
    case needsProgram = "needs_program"

    /// True when the reason is one for setting a row aside.
    package var isOfRow: Bool {
        switch self {
        case .unique, .foreignKey, .notNull, .check, .datatype, .key, .incomplete, .policy: true
        case .missingTable, .missingColumn, .differentKey, .needsProgram: false
        }
    }
}

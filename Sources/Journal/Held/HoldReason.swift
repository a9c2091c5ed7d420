/// The reason why a table does not show what the journal holds: the words in `_journal_held.reason` and
/// ``HeldEntry/reason``.
public enum HoldReason: String, Sendable, Hashable, CaseIterable {
    // MARK: - Reasons of held rows

    /// Another row holds one of its UNIQUE values by an earlier claim.
    case unique
    /// The row that one of its foreign keys refers to is not shown.
    case foreignKey = "foreign_key"
    /// A NOT NULL column of the table has no value.
    case notNull = "not_null"
    /// The values violate a CHECK of the table.
    case check
    /// A value has a type that the table does not store.
    case datatype
    /// The table would convert the row's key to another one.
    case key
    /// An update arrived before the insert of its row.
    case incomplete
    /// This replica lacks the function that merges concurrent changes of the table.
    case policy

    // MARK: - Reasons of changes that wait for their table or columns

    /// The table is not in this file.
    case missingTable = "missing_table"
    /// A column is not in this file.
    case missingColumn = "missing_column"
    /// The table in this file has another primary key, so rows cannot be matched.
    case differentKey = "different_key"
    /// Only the program that defined the table in this file can write it; see `ApplicationDefined`.
    case needsProgram = "needs_program"

    /// True for a reason of a held row.
    package var isOfRow: Bool {
        switch self {
        case .unique, .foreignKey, .notNull, .check, .datatype, .key, .incomplete, .policy: true
        case .missingTable, .missingColumn, .differentKey, .needsProgram: false
        }
    }
}

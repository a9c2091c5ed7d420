/// Why a table is not tracked.
package struct TableRefusal: Error, Sendable, Hashable {
    /// The kind of the reason. The raw values are words of `--json` and `/metrics`.
    package enum Cause: String, Sendable, CaseIterable {
        // MARK: - Rows that nobody decided to keep local

        case noPrimaryKey = "no_primary_key"
        case tooManyColumns = "too_many_columns"
        /// The schema uses a function or a collation that only the table's own program has; see
        /// ``ApplicationDefined``.
        case needsProgram = "needs_program"
        case virtualTable = "virtual_table"
        /// The name is one of Tandem's own.
        case reservedName = "reserved_name"
        /// Two names of tables or columns are one text in two Unicode forms.
        case ambiguousNames = "ambiguous_names"

        // MARK: - Tables that stay local by a decision, or have no rows of their own

        case excluded
        /// Not among the tables that were named at `init`.
        case notNamed = "not_named"
        /// See ``MigrationTables``.
        case migrationNotes = "migration_notes"
        /// The name was declared an older name of another table.
        case olderName = "older_name"
        case view
        /// A virtual table without rows of its own; see ``VirtualTable/isDerived``.
        case derivedTable = "derived_table"
        /// It holds the content of a virtual table, which is listed itself.
        case shadowTable = "shadow_table"
        /// Capture has not seen the table yet.
        case new

        /// True when the file has rows that do not replicate although nobody decided so.
        package var losesRows: Bool {
            switch self {
            case .noPrimaryKey, .tooManyColumns, .needsProgram, .virtualTable, .reservedName, .ambiguousNames: true
            case .excluded, .notNamed, .migrationNotes, .olderName, .view, .derivedTable, .shadowTable, .new: false
            }
        }
    }

    package let cause: Cause
    /// A phrase for people.
    package let reason: String
    /// What SQLite lacks to write the table, in its words; nil when that is not the cause, or not known.
    package let missing: String?

    package init(_ cause: Cause, _ reason: String, missing: String? = nil) {
        self.cause = cause
        self.reason = reason
        self.missing = missing
    }

    /// - Parameter missing: What SQLite says that it lacks; nil when that is not known.
    static func needsProgram(_ missing: String?) -> TableRefusal {
        let lack = missing.map { ": \($0)" } ?? ", because of a function or a collation that SQLite lacks"
        return TableRefusal(.needsProgram, "only its own program can write it\(lack)", missing: missing)
    }
}

import GRDB

/// The columns whose values no output shows: `syncd init --secret TABLE.COLUMN`.
///
/// Their values replicate like all others. Only logs, listings and pages show ``mark`` in their place.
package struct SecretColumns: Sendable, Hashable {
    /// What is shown in place of a value.
    package static let mark = Value.text(Array("(secret)".utf8)[...])

    /// A column of a table of this file.
    package struct Column: Sendable, Hashable {
        package let table: String
        package let column: String

        package init(table: String, column: String) {
            self.table = table
            self.column = column
        }
    }

    /// By table and column.
    package let all: [Column]
    private let folded: Set<Column>

    /// Reads what a file declares.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` when the list cannot be read; errors of SQLite.
    package init(_ db: Database) throws {
        // A file of an earlier release that is opened read-only lacks the column.
        let isThere = try JournalSchema.columns(of: "_journal_replica", db).contains("secrets")
        let text = isThere ? try String.fetchOne(db, sql: "SELECT secrets FROM _journal_replica") : nil
        let names = try NameList.decode(text ?? "[]")
        guard names.count.isMultiple(of: 2) else {
            throw JournalError(.corrupt, "The list of secret columns cannot be read")
        }
        self.init(stride(from: 0, to: names.count, by: 2).map { Column(table: names[$0], column: names[$0 + 1]) })
    }

    private init(_ columns: [Column]) {
        all = columns.sorted { ($0.table, $0.column) < ($1.table, $1.column) }
        folded = Set(columns.map(SecretColumns.folded))
    }

    private static func folded(_ column: Column) -> Column {
        Column(table: SQLText.foldedName(column.table), column: SQLText.foldedName(column.column))
    }

    /// Declares columns in a file, besides those that it has.
    ///
    /// - Parameter db: A connection inside a write transaction.
    /// - Throws: As ``init(_:)``; nothing is declared then.
    package static func declare(_ columns: [Column], _ db: Database) throws {
        let known = try SecretColumns(db)
        let new = columns.filter { !known.folded.contains(folded($0)) }
        guard !new.isEmpty else { return }
        try db.execute(
            sql: "UPDATE _journal_replica SET secrets = ?",
            arguments: [NameList.encode((known.all + new).flatMap { [$0.table, $0.column] })])
    }

    /// True when all these columns are declared.
    package func covers(_ columns: [Column]) -> Bool {
        columns.allSatisfy { folded.contains(SecretColumns.folded($0)) }
    }

    /// Returns the value to show for one of a column.
    package func shown(_ value: Value, of column: String, in table: String) -> Value {
        guard !folded.isEmpty else { return value }
        return folded.contains(SecretColumns.folded(Column(table: table, column: column))) ? SecretColumns.mark : value
    }

    /// Returns the columns of a row with the values to show.
    package func shown(
        _ columns: [(column: String, value: Value)], in table: String
    ) -> [(column: String, value: Value)] {
        columns.map { (column: $0.column, value: shown($0.value, of: $0.column, in: table)) }
    }
}

import Journal

/// Whose statements the calling thread runs, for ``StatementProfile/isInternal``.
enum StatementOwner: UInt {
    /// SQL that the program wrote.
    case program = 1
    /// The work of Store itself: following commits, reading objects again, statistics.
    case store = 2

    private static let word = ThreadWord()

    private static var current: StatementOwner? {
        word.value.flatMap { StatementOwner(rawValue: UInt(bitPattern: $0)) }
    }

    /// Runs `body`, whose statements belong to this owner, except those that an inner call gives to another one.
    func runs<Result>(_ body: () throws -> Result) rethrows -> Result {
        let outer = StatementOwner.word.value
        StatementOwner.word.value = UnsafeRawPointer(bitPattern: rawValue)
        defer { StatementOwner.word.value = outer }
        return try body()
    }

    /// True for a statement that Tandem runs for itself. Without an owner, its text decides: models and queries
    /// neither control transactions nor name Tandem's or SQLite's own tables.
    static func isInternal(_ sql: String) -> Bool {
        if isNested(sql) { return true }
        switch current {
        case .program: return false
        case .store: return true
        case nil:
            let keywords = ["BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE", "PRAGMA", "ATTACH", "DETACH"]
            if keywords.contains(SQLPlaceholders.keyword(sql)) { return true }
            return ["_journal", "sqlite_schema", "sqlite_master", "sqlite_stat", "pragma_"].contains {
                sql.contains($0)
            }
        }
    }

    /// True for a statement with which SQLite's FTS5, or a table-valued PRAGMA, does its own work inside of another
    /// statement. It has the form `… 'main'.'NAME_data' …` (https://sqlite.org/fts5.html#fts5_data_structures) or
    /// `PRAGMA 'main'.…`.
    private static func isNested(_ sql: String) -> Bool {
        if sql.hasPrefix("PRAGMA 'main'.") { return true }
        guard sql.contains("'main'.'") else { return false }
        return ["_data'", "_idx'", "_content'", "_docsize'", "_config'", "'_journal_docs_"].contains {
            sql.contains($0)
        }
    }
}

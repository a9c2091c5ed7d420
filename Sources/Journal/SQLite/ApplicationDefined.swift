import CSQLiteShim
import GRDB
import GRDBSQLite

/// Functions (https://sqlite.org/appfunc.html) and collations (https://sqlite.org/datatype3.html#collation)
/// that a program adds to its own connections. Other programs cannot write, or not even read, a table whose
/// schema uses them. The file's other tables are not affected.
///
/// SQLite's own functions are there on every connection. Those with side effects are marked as direct-only
/// (https://sqlite.org/c3ref/c_deterministic.html), and SQLite refuses them in a schema even when it trusts
/// the schema.
package enum ApplicationDefined {
    /// Returns what is missing on this connection, in SQLite's words; nil for any other error.
    package static func missing(_ error: any Error) -> String? {
        let message: String
        switch error {
        case let error as DatabaseError: message = error.message ?? ""
        case let error as JournalError: message = error.message
        default: return nil
        }
        // SQLite reports the last one when a key has an unknown collation.
        for mark in [
            "no such collation sequence: ", "no such function: ", "unknown function: ", "no query solution",
            // Nothing in a file's schema may call a function with side effects, such as load_extension().
            "unsafe use of ",
        ] {
            if let range = message.firstRange(of: mark) { return String(message[range.lowerBound...]) }
        }
        return nil
    }
}

extension TableInspection {
    /// False when only the program that defined the table can write it; see ``missing(_:)``.
    package func canBeWritten(_ db: Database) throws -> Bool { try missing(db) == nil }

    /// Returns what the table's schema uses and this connection lacks, in SQLite's words; nil when it has
    /// everything. See ``ApplicationDefined``.
    ///
    /// - Parameter db: A connection without triggers and foreign keys; see
    ///   ``GRDB/Database/withoutTriggersAndForeignKeys(_:)``. A read-only connection leaves CHECK constraints
    ///   out of the schema, so it misses less.
    /// - Throws: ``JournalError`` when SQLite refuses for another reason than a missing function or
    ///   collation, for example a damaged schema. Nothing is written.
    package func missing(_ db: Database) throws -> String? {
        let table = SQLText.quote(identifier: name)
        let columns = stored.map { SQLText.quote(identifier: $0.name) }
        let key = columns.prefix(max(1, keyCount)).joined(separator: ", ")
        // The statements are only prepared. The first one resolves CHECK constraints, generated columns, and
        // the keys of all indexes; the second one resolves defaults.
        var statements = [
            "INSERT INTO \(table) (\(columns.joined(separator: ", "))) "
                + "VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))",
            "INSERT INTO \(table) DEFAULT VALUES",
        ]
        if !columns.isEmpty { statements.append("SELECT 1 FROM \(table) ORDER BY \(key)") }
        do {
            for statement in statements { _ = try RawStatement(db, statement) }
            return nil
        } catch {
            guard let what = ApplicationDefined.missing(error) else { throw error }
            return what
        }
    }
}

extension Database {
    /// Runs `body` while SQLite leaves triggers and foreign keys out of the statements that it prepares, as
    /// on the connection that merges.
    ///
    /// - Parameter body: Executes no statement that writes.
    func withoutTriggersAndForeignKeys<T>(_ body: () throws -> T) throws -> T {
        guard let connection = sqliteConnection else { throw JournalError(.sqlite, "The connection is closed") }
        var triggers: Int32 = 0
        var foreignKeys: Int32 = 0
        // Each call stores the former settings, so the second one restores them.
        guard tandem_exchange_rules(connection, &triggers, &foreignKeys) == SQLITE_OK else {
            throw JournalError(sqliteConnection: connection, operation: "Leaving out triggers and foreign keys")
        }
        defer { _ = tandem_exchange_rules(connection, &triggers, &foreignKeys) }
        return try body()
    }
}

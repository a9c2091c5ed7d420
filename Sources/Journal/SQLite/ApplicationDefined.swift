import GRDB

/// Functions (https://sqlite.org/appfunc.html) and collations (https://sqlite.org/datatype3.html#collation)
/// that a program adds to its own connections. Other programs cannot write, or not even read, a table whose
/// schema uses them. The file's other tables are not affected.
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
        for mark in ["no such collation sequence: ", "no such function: ", "unknown function: ", "no query solution"] {
            if let range = message.firstRange(of: mark) { return String(message[range.lowerBound...]) }
        }
        return nil
    }
}

extension TableInspection {
    /// False when only the program that defined the table can write it; see ``ApplicationDefined``.
    ///
    /// - Parameter db: A connection that may write. A read-only connection leaves CHECK constraints out of
    ///   the schema.
    /// - Throws: ``JournalError`` when SQLite refuses for another reason than a missing function or
    ///   collation, for example a damaged schema. Nothing is written.
    package func canBeWritten(_ db: Database) throws -> Bool {
        let table = SQLText.quote(identifier: name)
        let columns = stored.map { SQLText.quote(identifier: $0.name) }
        do {
            // The statements are only prepared. That resolves CHECK constraints, generated columns, and the
            // keys of all indexes.
            _ = try RawStatement(
                db,
                "INSERT INTO \(table) (\(columns.joined(separator: ", "))) "
                    + "VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))")
            _ = try RawStatement(
                db, "SELECT 1 FROM \(table) ORDER BY \(columns.prefix(max(1, keyCount)).joined(separator: ", "))")
            return true
        } catch {
            guard ApplicationDefined.missing(error) != nil else { throw error }
            return false
        }
    }
}

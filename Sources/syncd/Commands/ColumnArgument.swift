import ArgumentParser
import GRDB
import Journal

/// `TABLE.COLUMN` on the command line.
struct ColumnArgument: ExpressibleByArgument, Hashable, Sendable {
    let table: String
    let column: String

    init?(argument: String) {
        guard let dot = argument.lastIndex(of: "."), dot > argument.startIndex,
            argument.index(after: dot) < argument.endIndex
        else { return nil }
        table = String(argument[..<dot])
        column = String(argument[argument.index(after: dot)...])
    }

    /// Finds the column before anything is written.
    ///
    /// - Parameters:
    ///   - flag: The flag that names the column, for messages.
    ///   - path: The database, for messages.
    ///   - db: A connection of the file.
    /// - Returns: Its table, and its position in the table's columns.
    /// - Throws: ``Failure`` when there is no such table or column.
    @discardableResult
    func check(_ flag: String, _ path: String, _ db: Database) throws -> (table: TableInspection, position: Int) {
        let hint = "`.schema` in the sqlite3 shell lists the tables and their columns."
        guard let inspection = try TableInspection.named(table, db) else {
            throw Failure("\(flag) names \(table), which is no table of \(path)", hint: hint)
        }
        guard let position = inspection.position(of: column) else {
            throw Failure("\(flag) names \(column), which is no column of \(table)", hint: hint)
        }
        return (inspection, position)
    }

    /// As ``check(_:_:_:)`` for `--secret`: a key column cannot be secret, because listings name rows by it.
    func checkSecret(_ path: String, _ db: Database) throws {
        let (inspection, position) = try check("--secret", path, db)
        guard position >= inspection.keyCount else {
            throw Failure(
                "--secret names \(column), which is part of the key of \(table)",
                hint: "Listings name rows by their keys. Give the table a key that tells nothing.")
        }
    }
}

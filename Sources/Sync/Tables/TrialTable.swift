import GRDB
import GRDBSQLite
import Journal

/// An empty copy of a table in memory, in which rows are inserted to learn whether the table refuses them.
///
/// SQLite evaluates CHECK constraints only where a row is written. In the file, that would take the write
/// lock, and make a program's transaction fail that is reading and about to write.
final class TrialTable {
    private let queue: DatabaseQueue
    private let writer: RowWriter

    /// - Parameter db: A connection of the file.
    /// - Returns: nil when the table cannot be copied, for example because a CHECK needs a function that only
    ///   its own program has.
    init?(of table: TableInspection, _ db: Database) throws {
        let sql = try String.fetchOne(
            db, sql: "SELECT sql FROM main.sqlite_master WHERE type = 'table' AND name = ?", arguments: [table.name])
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let collations = try ProgramCollations(CollationMap(db))
        configuration.prepareDatabase { collations.install(on: $0) }
        guard let sql, let queue = try? DatabaseQueue(configuration: configuration),
            (try? queue.inDatabase { try $0.execute(sql: sql) }) != nil
        else { return nil }
        self.queue = queue
        writer = queue.inDatabase { RowWriter($0, table: table) }
    }

    /// True when the table would refuse a row regardless of other rows.
    ///
    /// - Parameter values: In the order of ``TableInspection/stored``.
    func refuses(_ values: [Value], keyCount: Int) throws -> Bool {
        try queue.inDatabase { _ in
            let code = try writer.insert(ColumnMask(all: values.count), values: values[...])
            guard code == SQLITE_DONE else { return HoldReason(code).isOfTheRow }
            _ = try writer.delete(key: values.prefix(keyCount))
            return false
        }
    }
}

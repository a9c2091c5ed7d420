import Foundation
import GRDB
import Testing

/// A digest of each table of a file, with the journal's own tables and the schema.
struct FileState: Equatable {
    /// Tables in which a contact may record what this file itself has checked. They change nothing that a
    /// peer is told.
    ///
    /// The number of the schema rises when GRDB opens a file without a log: it makes and drops a table to get
    /// one.
    private static let notes: Set = [
        "_journal_replica.checked_seq", "_journal_replica.checked_keys", "_journal_replica.checked_held",
        "_journal_replica.schema_version",
        "_journal_replica.sealed_seq", "_journal_replica.sealed_stamp", "_journal_replica.fingerprint",
        "_journal_replica.instance", "_journal_tables.joined",
    ]

    private var digests: [String: Int] = [:]

    init(_ path: String) throws {
        let queue = try DatabaseQueue(path: path)
        self = try queue.read { try FileState($0) }
        try queue.close()
    }

    init(_ db: Database) throws {
        let tables = try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
        for table in tables + ["sqlite_master"] {
            let columns = try db.columns(in: table).map(\.name).filter { !FileState.notes.contains("\(table).\($0)") }
                .map { "quote(\"\($0)\")" }.joined(separator: ", ")
            // A wide table widens the journal. That change counts as one of the journal.
            let condition = table == "sqlite_master" ? "WHERE name <> '_journal'" : ""
            let rows = try Row.fetchAll(db, sql: "SELECT \(columns) FROM \"\(table)\" \(condition)").map { row in
                row.map { String.fromDatabaseValue($0.1) ?? "" }.joined(separator: "|")
            }
            digests[table] = rows.sorted().hashValue
        }
    }

    /// The tables that differ.
    func changes(since other: FileState) -> [String] {
        Set(digests.keys).union(other.digests.keys).filter { digests[$0] != other.digests[$0] }.sorted()
    }
}

/// The memory of a process, as the system counts it.
enum Memory {
    /// Several times the largest request that the limits of the tests allow.
    static let cap = 256 << 20

    /// The resident bytes.
    static func resident(_ process: String = "self") -> Int {
        let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }) else { return 0 }
        return (Int(line.filter(\.isNumber)) ?? 0) << 10
    }
}

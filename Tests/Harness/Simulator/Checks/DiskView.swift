import Journal
import MergeModel
import SimulatedDisk
import TestSupport

/// The content of a disk, read through a copy of it, so that no process of its machine takes part.
struct DiskView {
    /// The transactions in the journal, in the order in which they were committed there.
    let transactions: [Int]
    /// The findings of SQLite's own check; empty when there is none.
    let problems: [String]

    init(_ disk: SimulatedDisk) throws {
        let copy = disk.copy()
        (transactions, problems) = try withExtendedLifetime(copy) {
            let connection = try RawConnection(path: copy.path(ReplicaFiles.database))
            return (try DiskView.transactions(connection), try DiskView.problems(connection))
        }
    }

    private static func transactions(_ connection: RawConnection) throws -> [Int] {
        let tokens = try connection.rows(
            """
            SELECT j.v0 FROM _journal AS j JOIN _journal_tables AS t ON t.shape = j.shape
            WHERE t.name = '\(TokenTable.name)' AND j.op = \(Journal.Operation.insert.rawValue) ORDER BY j.seq
            """)
        var transactions: [Int] = []
        for token in tokens {
            guard case .integer(let id) = token[0] else { continue }
            let transaction = TokenTable.transaction(of: id)
            if transactions.last != transaction { transactions.append(transaction) }
        }
        return transactions
    }

    private static func problems(_ connection: RawConnection) throws -> [String] {
        try connection.rows("PRAGMA integrity_check").filter { $0.first != .text("ok") }.map { row in
            row.map(\.plain).joined(separator: " ")
        }
    }
}

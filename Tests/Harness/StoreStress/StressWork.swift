import Foundation
import Store
import Synchronization

@Model
final class Account {
    var id: Int64
    var balance: Int = 0
    var visits: Int = 0
    var note: String = ""
}

struct Cancelled: Error {}

/// The work of the tasks. These must hold at the end and at every moment:
///
/// 1. The balances of all accounts add up to 0, in every snapshot.
/// 2. The visits in the file equal those that were counted here, each after its commit.
/// 3. A live object in memory shows its row.
final class StressWork: Sendable {
    static let accounts: Int64 = 40

    private let database: Database
    private let held: [Account]
    private let visits = Atomic<Int>(0)
    private let wrongSums = Atomic<Int>(0)

    init(path: String) throws {
        var options = Database.Options()
        options.durability = .normal
        options.busyTimeout = .seconds(120)
        database = try Database(path: path, options: options) { schema in
            schema.version(1) {
                try $0.execute(
                    """
                    CREATE TABLE Account (
                      id INTEGER PRIMARY KEY, balance INTEGER NOT NULL, visits INTEGER NOT NULL, note TEXT NOT NULL)
                    """)
            }
        }
        held = try Account.create(from: 1...StressWork.accounts, in: database) { $0.id = $1 }
    }

    var written: Int { visits.load(ordering: .relaxed) }

    func step(_ kind: UInt64, _ number: UInt64) throws {
        let (from, to) = (id(number), id(number >> 20))
        switch kind {
        case 0, 1: try visit(from)
        case 2: try transfer(from, to)
        case 3: try bulkVisit(number)
        case 4: try visitWithinTransaction(from)
        case 5: try passing(number)
        case 6: try checkSum()
        case 7: try query()
        default: look(number)
        }
    }

    // MARK: - Writing

    private func visit(_ id: Int64) throws {
        guard let account = try Account.find(id, in: database) else { throw Cancelled() }
        try account.save { $0.visits += 1 }
        visits.add(1, ordering: .relaxed)
    }

    private func transfer(_ from: Int64, _ to: Int64) throws {
        try database.transaction {
            guard let a = try Account.find(from, in: database), let b = try Account.find(to, in: database) else {
                throw Cancelled()
            }
            try a.save { $0.balance -= 5 }
            try b.save { $0.balance += 5 }
        }
    }

    private func bulkVisit(_ number: UInt64) throws {
        let rest = Int64(number % 7)
        let count = try Account.execute(
            "UPDATE $T SET visits = visits + 1 WHERE $PK % 7 = ? AND $PK <= ?", rest, StressWork.accounts, in: database)
        visits.add(count, ordering: .relaxed)
    }

    private func visitWithinTransaction(_ id: Int64) throws {
        try database.transaction {
            guard let account = try Account.find(id, in: database) else { throw Cancelled() }
            try account.save { $0.visits += 1 }
            try? database.transaction {
                try account.save { $0.visits += 50 }
                try Account.execute("UPDATE $T SET balance = balance + 1", in: database)
                throw Cancelled()
            }
        }
        visits.add(1, ordering: .relaxed)
    }

    /// Creates a row and deletes it.
    private func passing(_ number: UInt64) throws {
        let account = try Account.create(in: database) { $0.note = "passing \(number)" }
        try account.save { $0.note += "!" }
        try account.delete()
    }

    // MARK: - Reading

    private func checkSum() throws {
        let (sum, count) = try database.read {
            (
                try database.value(Int.self, "SELECT sum(balance) FROM Account") ?? -1,
                try Account.where("$PK <= ?", StressWork.accounts).count(in: database)
            )
        }
        if sum != 0 || count != Int(StressWork.accounts) { wrongSums.add(1, ordering: .relaxed) }
    }

    private func query() throws {
        let accounts = try Account.where("$PK <= ?", StressWork.accounts).order(by: \.visits, .descending).all(
            in: database)
        if accounts.count != Int(StressWork.accounts) { wrongSums.add(1, ordering: .relaxed) }
        _ = try Account.all(in: database).reduce(0) { $0 + $1.visits }
    }

    private func look(_ number: UInt64) {
        let account = held[Int(number % UInt64(held.count))]
        for _ in 0..<20 where account.isDeleted || account.visits < 0 || !account.note.isEmpty {
            wrongSums.add(1, ordering: .relaxed)
        }
    }

    /// Receives all changes until the database is closed, and returns the number of commits.
    func listen() async -> Int {
        var count = 0
        for await _ in Account.changes(in: database) { count += 1 }
        return count
    }

    private func id(_ number: UInt64) -> Int64 { Int64(number % UInt64(StressWork.accounts)) + 1 }

    // MARK: - Final checks

    /// The problems that were found.
    func check() throws -> [String] {
        var problems: [String] = []
        let wrong = wrongSums.load(ordering: .relaxed)
        if wrong > 0 { problems.append("\(wrong) reads saw something that was never committed") }
        let sum = try database.value(Int.self, "SELECT sum(visits) FROM Account") ?? -1
        if sum != written { problems.append("the file has \(sum) visits, and \(written) were made") }
        for account in held {
            let row = try database.value(Int.self, "SELECT visits FROM Account WHERE id = ?", account.id)
            if row != account.visits {
                problems.append("account \(account.id) shows \(account.visits), its row \(row ?? -1)")
            }
        }
        let integrity = try database.value(String.self, "PRAGMA integrity_check") ?? ""
        if integrity != "ok" { problems.append(integrity) }
        return problems
    }

    func close() throws { try database.close() }
}

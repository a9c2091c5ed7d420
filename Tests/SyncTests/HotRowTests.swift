import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

@Suite("Two machines that write one row again and again")
struct HotRowTests {
    private let directory = TemporaryDirectory()

    private func replica(_ name: String) throws -> ReplicaFixture {
        try ReplicaFixture(
            directory.file(name), schema: "CREATE TABLE counter (id TEXT PRIMARY KEY NOT NULL, n INTEGER, at TEXT)")
    }

    /// Each side updates the row in `count` transactions of its own, and the second takes what the first wrote.
    ///
    /// - Returns: The steps of the merge connection.
    private func steps(_ count: Int) throws -> Int {
        let first = try replica("first\(count)")
        let second = try replica("second\(count)")
        try first.executeForeign("INSERT INTO counter VALUES ('c', 0, '')")
        try second.pull(from: first)
        for (side, replica) in [first, second].enumerated() {
            for number in 1...count {
                try replica.executeForeign("UPDATE counter SET n = \(number), at = '\(side)'")
            }
        }
        let counter = StepCounter()
        try second.inbox.connection.read(counter.attach)
        let report = try second.pull(from: first)
        try second.inbox.connection.read(counter.detach)
        #expect(report.conflicts >= 100)
        // The second side wrote later.
        #expect(try second.text("SELECT n || at FROM counter") == ["\(count)1"])
        try first.pull(from: second)
        let ledger = """
            SELECT hex(o.origin) || c.lost_version || hex(c.kept_origin) || c.kept_stamp || c.columns
            FROM _journal_conflicts AS c JOIN _journal_origins AS o ON o.id = c.lost_origin ORDER BY 1
            """
        #expect(try first.text(ledger) == second.text(ledger))
        return counter.steps
    }

    @Test("take work in proportion to their writes, not to the pairs of writes")
    func linear() throws {
        let work = try [200, 800].map(steps)
        #expect(work[1] < work[0] * 6, "\(work)")
    }
}

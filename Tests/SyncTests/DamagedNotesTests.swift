import GRDB
import Journal
import Sync
import TestSupport
import Testing

/// Data that a merge reads besides the journal: damage there ends the merge with an error and without a
/// change.
@Suite("Damage in the data that a merge reads is noticed")
struct DamagedNotesTests {
    @Test(
        "by the merge that needs it",
        arguments: [
            "INSERT INTO _journal_policies VALUES ('t', 'by chance')",
            "INSERT INTO _journal_held VALUES (1, 1, x'01', 'check', '', x'FF', 0)",
            "INSERT INTO _journal_held VALUES (1, 1, x'01', 'for no reason', '', x'', 0)",
        ])
    func noticed(_ damage: String) throws {
        let cluster = try Cluster(2, schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, a)")
        try cluster.execute(0, "INSERT INTO t VALUES(1, 'x')")
        try cluster.execute(1, damage)
        let error = #expect(throws: JournalError.self) { try cluster.pull(1, from: 0) }
        #expect(error?.code == .corrupt)
        #expect(try cluster[1].read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 0)
        try cluster.execute(1, "DELETE FROM _journal_policies; DELETE FROM _journal_held")
        try cluster.converge()
        #expect(try cluster.content(1) == cluster.content(0))
    }
}

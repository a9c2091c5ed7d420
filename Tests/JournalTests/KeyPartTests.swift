import GRDB
import TestSupport
import Testing

@testable import Journal

@Suite("A large table is compared with the journal in parts")
struct KeyPartTests {
    @Test("each key is in one part, and the parts are about equal")
    func parts() {
        let parts = KeyPart.parts(of: 10_000, atMost: 1_000)
        #expect(parts.count == 10)
        let keys = (0..<10_000).map { Key([.integer(Int64($0))]) }
        #expect(keys.allSatisfy { key in parts.count { $0.contains(key) } == 1 })
        #expect(parts.allSatisfy { part in (800...1_200).contains(keys.count { part.contains($0) }) })
        #expect(KeyPart.parts(of: 0, atMost: 1_000).count == 1)
    }

    @Test("the parts find what the whole finds", arguments: [1, 7, 1_000])
    func same(rowsPerPart: Int64) throws {
        let fixture = try Fixture("CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, a)")
        try fixture.execute(
            "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) INSERT INTO t SELECT 'k' || i, i FROM n"
        )
        try fixture.execute("DELETE FROM t WHERE a > 50")
        let program = try RawConnection(path: fixture.replica.path)
        try program.enableTriggers(false)
        try program.run(
            "UPDATE t SET a = -a WHERE a % 3 = 0; DELETE FROM t WHERE a % 5 = 0; INSERT INTO t VALUES ('k51', 1), ('n', 2)"
        )
        // 10 multiples of 5 are deleted, and 16 of 3 changed, of which 3 are deleted.
        #expect(try fixture.replica.recapture(rowsPerPart: rowsPerPart) == 10 + 13 + 2)
        #expect(try ReplayCheck.differences(fixture.replica) == [])
        #expect(try fixture.replica.recapture(rowsPerPart: rowsPerPart) == 0)
    }
}

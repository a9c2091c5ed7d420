import Foundation
import TestSupport
import Testing

@testable import Sync

/// Property: what tables show is a pure function of the merged state, and no foreign key of a visible row is broken.
@Suite("A default that stands for a missing parent")
struct SubstituteParentTests {
    @Test("is not shown when the row that it refers to gives way in the same transaction")
    func givesWay() throws {
        let cluster = try Cluster(
            2,
            schema: """
                CREATE TABLE t(k INTEGER PRIMARY KEY, c TEXT UNIQUE,
                  f INTEGER DEFAULT 1 REFERENCES t(k) ON DELETE SET DEFAULT)
                """)
        try cluster.executeLater(1, "INSERT INTO t VALUES (9, 'c', NULL), (5, NULL, 2)")
        try cluster.executeLater(0, "INSERT INTO t VALUES (1, 'c', NULL)")
        try cluster.pull(0, from: 1)
        try cluster.pull(1, from: 0)
        for machine in 0..<2 {
            #expect(try cluster.text(machine, "SELECT k FROM t ORDER BY k") == ["9"])
            #expect(try cluster.heldReasons(machine) == ["foreign_key", "unique"])
        }
        try cluster.expectEqual()
    }
}

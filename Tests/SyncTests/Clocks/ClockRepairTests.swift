import Foundation
import GRDB
import Journal
import Testing

@testable import Sync

@Suite("The repair of stamps that were ahead")
struct ClockRepairTests {
    private static let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)"
    private static let select = "SELECT id || ':' || a || ':' || coalesce(b, '') FROM t ORDER BY id"
    private let year = ClockedCluster.year
    private let successor = OriginID(high: 99, low: 99)

    private func repair(_ cluster: ClockedCluster, _ index: Int) throws -> ClockRepair.Outcome? {
        try cluster[index].refreshDerivedState()
        let outcome = try cluster[index].write { db in
            try ClockDecision.repair(
                now: cluster.clock(index).stamp, limits: cluster.limits, origin: successor,
                peers: PeerRecords.all(in: cluster[index], db), db)
        }
        try cluster.restart(index)
        return outcome
    }

    /// Replica 0 wrote with a clock 10 years ahead and continued to merge and write; then its clock was
    /// corrected.
    private func damaged() throws -> ClockedCluster {
        let cluster = try ClockedCluster(3, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO t VALUES(1, 'old', 1), (2, 'old', 2), (3, 'old', 3)")
        try cluster.converge()
        cluster.advance(1_000)
        cluster.advance(10 * year, [0])
        try cluster.execute(0, "UPDATE t SET a = 'mad' WHERE id = 1; INSERT INTO t VALUES(4, 'mad', 4)")
        try cluster.execute(1, "UPDATE t SET a = 'sane' WHERE id = 1; UPDATE t SET b = 9 WHERE id = 2")
        try cluster.pull(0, from: 1)
        try cluster.execute(0, "DELETE FROM t WHERE id = 3; UPDATE t SET a = 'madder' WHERE id = 2")
        try cluster.execute(2, "INSERT INTO t VALUES(5, 'sane', 5); UPDATE t SET a = 'late' WHERE id = 3")
        try cluster.pull(0, from: 2)
        cluster.advance(-10 * year, [0])
        cluster.advance(60_000)
        try cluster.execute(0, "INSERT INTO t VALUES(6, 'after', 6)")
        try cluster.converge()
        return cluster
    }

    @Test("changes with the wrong clock reach all machines, no row of their replica changes, and ledgers agree")
    func repaired() throws {
        let cluster = try damaged()
        let before = try cluster.text(0, Self.select)
        #expect(before == ["1:mad:1", "2:madder:9", "4:mad:4", "5:sane:5", "6:after:6"])
        #expect(try cluster.text(1, Self.select) == ["1:sane:1", "2:old:9", "3:late:3", "5:sane:5"])
        #expect(try cluster.clocks(seenBy: 0).isHeldBackByOthers)
        let stampsBefore = try cluster.stamps(0)
        let outcome = try #require(try repair(cluster, 0))
        #expect(outcome.old == cluster.origin(0) && outcome.new == successor)
        #expect(outcome.kept == 3 && outcome.reissued == 5)
        #expect(try cluster.text(0, Self.select) == before)
        #expect(try !cluster.clocks(seenBy: 0).isHeldBackByOthers)
        let stamps = try cluster.stamps(0)
        #expect(stamps.prefix(3).elementsEqual(stampsBefore.prefix(3)))
        let latest = cluster.clock(0).stamp.milliseconds + cluster.limits.clockSkewMilliseconds
        #expect(stamps.allSatisfy { $0.milliseconds <= latest })

        try cluster.converge()
        for index in 1...2 {
            #expect(try cluster.text(index, Self.select) == before)
            #expect(try ledger(cluster, index) == ledger(cluster, 0))
        }
        #expect(try ledger(cluster, 0).count == 2)
        // It continues under its new origin, and its changes are accepted.
        cluster.advance(1_000)
        try cluster.execute(0, "UPDATE t SET a = 'new' WHERE id = 1")
        try cluster.execute(1, "UPDATE t SET a = 'newer' WHERE id = 2")
        try cluster.converge()
        for index in 0..<3 {
            #expect(try cluster.text(index, Self.select).prefix(2).elementsEqual(["1:new:1", "2:newer:9"]))
        }
        #expect(try repair(cluster, 0) == nil)
    }

    private func ledger(_ cluster: ClockedCluster, _ index: Int) throws -> [String] {
        try cluster[index].read { db in
            try ConflictLedger(db).entries().map {
                "\($0.kind) \($0.key) lost \($0.lostOrigin.short):\($0.lostVersion) \($0.lost) "
                    + "kept \($0.keptOrigin.short):\($0.keptVersion) \($0.keptStamp.rawValue)"
            }.sorted()
        }
    }

    @Test(
        "with another clock years behind: once both are corrected and one file is repaired, all machines have everything"
    )
    func bothDirections() throws {
        let cluster = try ClockedCluster(3, schema: Self.schema)
        cluster.advance(10 * year, [0])
        cluster.advance(-10 * year, [1])
        for index in 0..<3 { try cluster.execute(index, "INSERT INTO t VALUES(\(index), 'by \(index)', NULL)") }
        try cluster.converge()
        // Nobody accepts the changes of the machine that is ahead. The machine that is behind accepts no
        // changes.
        let all = ["0:by 0:", "1:by 1:", "2:by 2:"]
        #expect(try cluster.text(0, Self.select) == all)
        #expect(try cluster.text(1, Self.select) == ["1:by 1:"])
        #expect(try cluster.text(2, Self.select) == ["1:by 1:", "2:by 2:"])
        cluster.advance(-10 * year, [0])
        cluster.advance(10 * year, [1])
        cluster.advance(1_000)
        let outcome = try #require(try repair(cluster, 0))
        #expect(outcome.kept == 0 && outcome.reissued == 1)
        try cluster.converge()
        for index in 0..<3 {
            #expect(try cluster.text(index, Self.select) == all, "replica \(index)")
            #expect(try ledger(cluster, index).isEmpty, "replica \(index)")
        }
    }

    @Test("a whole history, many sealed stretches of it, and nothing before it", arguments: [0, 1, 9_000])
    func stretches(sane: Int) throws {
        let cluster = try ClockedCluster(2, schema: Self.schema)
        func insert(_ range: Range<Int>) -> String {
            "WITH RECURSIVE n(i) AS (SELECT \(range.lowerBound) UNION ALL SELECT i + 1 FROM n WHERE i < \(range.upperBound - 1)) "
                + "INSERT INTO t SELECT i, 'x', i FROM n"
        }
        if sane > 0 { try cluster.execute(0, insert(0..<sane)) }
        try cluster[0].refreshDerivedState()
        cluster.advance(year, [0])
        try cluster.execute(0, insert(10_000..<19_000))
        try cluster.execute(0, "DELETE FROM t WHERE id >= 18000; INSERT INTO t VALUES(18500, 'again', 1)")
        try cluster[0].refreshDerivedState()
        cluster.advance(-year, [0])
        let count = try cluster.text(0, Self.select).count
        let outcome = try #require(try repair(cluster, 0))
        #expect(outcome.kept == Int64(sane) && outcome.reissued == 10_001)
        let entries = try cluster[0].read { try JournalReader($0).entries(after: 0, limit: .max) }
        #expect(zip(entries, entries.dropFirst()).allSatisfy { $0.stamp < $1.stamp })
        #expect(entries.suffix(10_001).map(\.version) == Array(1...10_001))
        #expect(entries.last?.life == 3)
        try cluster.converge()
        #expect(try cluster.text(1, Self.select) == cluster.text(0, Self.select))
        #expect(try cluster.text(1, Self.select).count == count)
    }

    @Test("the repair is refused when a peer has accepted such a change, and changes nothing")
    func taken() throws {
        let cluster = try damaged()
        try cluster[1].write {
            try ClockDecision.accept([cluster.origin(0)], now: cluster.clock(1).stamp, $0)
        }
        try cluster.converge()
        try cluster.execute(1, "INSERT INTO t VALUES(7, 'knows', 7)")
        try cluster[0].write {
            // The daemon's note on a peer that confirms them.
            var status = PeerStatus(name: "1")
            status.vector = try cluster.inboxes[1].vector()
            try PeerTable.record(status, $0)
        }
        let before = try cluster.text(0, "SELECT quote(stamp) FROM _journal")
        let error = #expect(throws: JournalError.self) { try repair(cluster, 0) }
        #expect(error?.code == .refused)
        #expect(try cluster.text(0, "SELECT quote(stamp) FROM _journal") == before)
        #expect(try cluster[0].identity().origin == cluster.origin(0))
    }

    @Test("the repair is refused when the early changes are those of others")
    func others() throws {
        let cluster = try ClockedCluster(2, schema: Self.schema)
        cluster.advance(year)
        try cluster.execute(1, "INSERT INTO t VALUES(1, 'mad', 1)")
        try cluster.pull(0, from: 1)
        try cluster.execute(0, "UPDATE t SET a = 'built on it'")
        cluster.advance(-year)
        let error = #expect(throws: JournalError.self) { try repair(cluster, 0) }
        #expect(error?.code == .refused && error?.message.contains(cluster.origin(1).description) == true)
    }

    @Test("the repair is refused when early changes of others were merged before its own")
    func mingled() throws {
        let cluster = try ClockedCluster(2, schema: Self.schema)
        cluster.advance(year)
        try cluster.execute(0, "INSERT INTO t VALUES(1, 'mad', 1)")
        try cluster.execute(1, "INSERT INTO t VALUES(2, 'mad', 2)")
        try cluster.pull(0, from: 1)
        cluster.advance(-year)
        let merged = #expect(throws: JournalError.self) { try repair(cluster, 0) }
        #expect(merged?.message.contains("merged here") == true)
    }
}

import Journal
import TestSupport
import Testing

@testable import Sync

/// Property: what a replica writes after a return wins over everything that it had merged before.
@Suite("The clock of a replica that comes back")
struct ReturnClockTests {
    private static let select = "SELECT a FROM t"
    private let cluster: ClockedCluster

    /// All three know the same; replica 1 comes back later with the content of replica 0.
    init() throws {
        cluster = try ClockedCluster(3, schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, a)")
        try cluster.execute(0, "INSERT INTO t VALUES(1, 'first')")
        try cluster.converge()
    }

    private func comeBack() async throws -> Return.Report {
        var back = Return(cluster.inboxes[1], from: SnapshotShelf(cluster[0], limits: .standard))
        back.clock = ManualClock()
        return try await back.run()
    }

    @Test("what it overwrote before it came back does not win, though its clock is behind", arguments: [false, true])
    func behind(writesAgain: Bool) async throws {
        cluster.advance(60_000, [2])
        try cluster.execute(2, "UPDATE t SET a = 'second'")
        try cluster.pull(1, from: 2)
        try cluster.execute(1, "UPDATE t SET a = 'third'")
        #expect(try await comeBack().written == 1)
        if writesAgain { try cluster.execute(1, "UPDATE t SET a = 'fourth'") }
        try cluster.converge()
        for index in 0...2 {
            #expect(try cluster.text(index, Self.select) == [writesAgain ? "fourth" : "third"], "replica \(index)")
        }
    }

    @Test("what it wrote while its clock was a year ahead gets the time of the return")
    func ahead() async throws {
        cluster.advance(ClockedCluster.year, [1])
        try cluster.execute(1, "UPDATE t SET a = 'early'")
        cluster.advance(-ClockedCluster.year, [1])
        #expect(try await comeBack().written == 1)
        try cluster.converge()
        for index in 0...2 { #expect(try cluster.text(index, Self.select) == ["early"], "replica \(index)") }
        #expect(try cluster.clocks(seenBy: 0).origins.isEmpty)
    }
}

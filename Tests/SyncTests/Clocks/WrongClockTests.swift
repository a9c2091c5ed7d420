import Foundation
import GRDB
import Journal
import Testing

@testable import Sync

/// The promises of docs/decisions/0007-wrong-clocks.md.
@Suite("Wrong clocks")
struct WrongClockTests {
    private static let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, a)"
    private static let select = "SELECT id || ':' || a FROM t ORDER BY id"
    private let year = ClockedCluster.year

    @Test("a clock 10 years ahead holds back its own changes and no others")
    func ahead() throws {
        let cluster = try ClockedCluster(3, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO t VALUES(1, 'early')")
        try cluster.converge()
        cluster.advance(10 * year, [0])
        try cluster.execute(0, "INSERT INTO t VALUES(2, 'mad')")
        cluster.advance(1_000)
        try cluster.execute(1, "INSERT INTO t VALUES(3, 'sane')")
        // Replica 1 gets both changes at once, from one journal in which the early change is first.
        try cluster.pull(1, from: 0)
        try cluster.converge()
        #expect(try cluster.text(0, Self.select) == ["1:early", "2:mad", "3:sane"])
        for index in 1...2 { #expect(try cluster.text(index, Self.select) == ["1:early", "3:sane"]) }
        let report = try cluster.clocks(seenBy: 1)
        #expect(report.origins.map(\.origin) == [cluster.origin(0)])
        #expect(report.origins[0].hold?.firstVersion == 2)
        #expect(report.origins[0].aheadMilliseconds.map { abs($0 - 10 * year) < 10_000 } == true)
        #expect(report.origins[0].since != nil && !report.isHeldBackByOthers)
        #expect(try cluster.clocks(seenBy: 0).isHeldBackByOthers == false)
    }

    @Test("runs after the early one in the same batch are applied, but not those that build on it")
    func dependents() throws {
        let cluster = try ClockedCluster(4, schema: Self.schema)
        cluster.advance(10 * year, [0])
        try cluster.execute(0, "INSERT INTO t VALUES(1, 'mad')")
        // The clock of replica 1 is ahead, too: it accepts the change, and its own changes build on it.
        cluster.advance(10 * year, [1])
        try cluster.pull(1, from: 0)
        try cluster.execute(2, "INSERT INTO t VALUES(3, 'sane')")
        try cluster.execute(1, "UPDATE t SET a = 'built on it'")
        try cluster.pull(1, from: 2)
        try cluster.pull(3, from: 1)
        #expect(try cluster.text(3, Self.select) == ["3:sane"])
        let report = try cluster.clocks(seenBy: 3)
        #expect(report.origins.map(\.origin) == [cluster.origin(0), cluster.origin(1)])
    }

    @Test("an origin that contradicts itself is called that, is not ahead, and cannot be accepted")
    func contradiction() throws {
        let cluster = try ClockedCluster(1, schema: Self.schema)
        let origin = OriginID(high: 8, low: 8)
        try cluster[0].write { db in
            try DeferredOrigins.record(
                DeferredOrigin(origin: origin, firstVersion: 3, lastVersion: 4, stamp: DeferredOrigin.never), time: 1,
                db)
        }
        let report = try cluster.clocks(seenBy: 0)
        #expect(report.origins.map(\.isContradictory) == [true])
        #expect(report.origins.map(\.aheadMilliseconds) == [nil])
        let error = #expect(throws: JournalError.self) {
            try cluster[0].write { try ClockDecision.accept([origin], now: Stamp(milliseconds: cluster.now), $0) }
        }
        #expect(error?.code == .refused && error?.message.contains("contradicts itself") == true)
        #expect(try cluster.clocks(seenBy: 0).origins.map(\.allowedMilliseconds) == [0])
    }

    @Test("a change with a sane stamp that builds on a held-back change waits with it")
    func builtOnHeldBack() throws {
        let cluster = try ClockedCluster(2, schema: Self.schema)
        let (mad, sane) = (OriginID(high: 8, low: 8), OriginID(high: 9, low: 9))
        func batch(of runs: [(origin: OriginID, stamp: Int64, known: VersionVector)]) -> ChangeBatch {
            var batch = ChangeBatch()
            batch.shapes = [TableShape(table: "t", columns: ["id", "a"], keyCount: 1)]
            for (index, run) in runs.enumerated() {
                batch.values += [.integer(Int64(index)), .text("x")]
                batch.changes.append(
                    Change(
                        shape: 0, operation: .insert, life: 1, stamp: Stamp(milliseconds: run.stamp),
                        mask: ColumnMask(all: 2), values: (2 * index)..<(2 * index + 2), endsTransaction: true))
                batch.runs.append(
                    Run(origin: run.origin, firstVersion: 1, changes: index..<(index + 1), known: run.known))
            }
            return batch
        }
        let now = cluster.now
        let knowsMad = VersionVector([VersionVector.Entry(origin: mad, version: 1)])
        let all = batch(of: [(mad, now + year, VersionVector()), (sane, now, knowsMad)])
        #expect(try cluster.inboxes[0].receive(all).isDeferred)
        #expect(try cluster.text(0, Self.select).isEmpty)
        let holds = try cluster[0].read { try DeferredOrigins($0) }
        #expect(holds[sane]?.cause == mad && holds[sane]?.stamp == nil)
        cluster.advance(year)
        #expect(try cluster.inboxes[0].deferred().isEmpty)
        #expect(try cluster.inboxes[0].receive(all).applied == 2)
        #expect(try cluster.clocks(seenBy: 0).origins.isEmpty)
    }

    @Test("held-back changes are requested once, not at every pull, and are applied when the clock gets there")
    func cost() throws {
        var limits = Limits.standard
        limits.changesPerBatch = 2
        let cluster = try ClockedCluster(2, schema: Self.schema, limits: limits)
        cluster.advance(3_600_000, [0])
        for id in 1...5 { try cluster.execute(0, "INSERT INTO t VALUES(\(id), 'x')") }
        #expect(try cluster.pull(1, from: 0).sent == 5)
        #expect(try cluster.pull(1, from: 0).sent == 0)
        try cluster.execute(0, "INSERT INTO t VALUES(6, 'x')")
        #expect(try cluster.pull(1, from: 0).sent == 1)
        #expect(try cluster.pull(1, from: 0).sent == 0)
        #expect(try cluster.text(1, Self.select).isEmpty)
        cluster.advance(3_600_000 - limits.clockSkewMilliseconds + 1)
        #expect(try cluster.pull(1, from: 0).report.applied == 6)
        #expect(try cluster.text(1, Self.select).count == 6)
        #expect(try cluster.clocks(seenBy: 1).origins.isEmpty)
    }

    @Test("a run that starts in time is applied up to the transaction with the early stamp")
    func partOfARun() throws {
        let cluster = try ClockedCluster(2, schema: Self.schema)
        try cluster[0].write { try $0.execute(sql: "INSERT INTO t VALUES(1, 'in time')") }
        try cluster[0].write { try $0.execute(sql: "INSERT INTO t VALUES(2, 'in time')") }
        cluster.advance(year, [0])
        try cluster.execute(0, "INSERT INTO t VALUES(3, 'early')")
        #expect(try cluster.pull(1, from: 0).report.applied == 2)
        #expect(try cluster.text(1, Self.select) == ["1:in time", "2:in time"])
        #expect(try cluster.clocks(seenBy: 1).origins.first?.hold?.firstVersion == 3)
    }

    @Test("an operator accepts held-back changes, and revokes that decision")
    func decision() throws {
        let cluster = try ClockedCluster(3, schema: Self.schema)
        cluster.advance(10 * year, [0])
        try cluster.execute(0, "INSERT INTO t VALUES(1, 'mad')")
        try cluster.pull(1, from: 0)
        let stranger = #expect(throws: JournalError.self) {
            try cluster[1].write { try ClockDecision.accept([OriginID(high: 5, low: 5)], now: .zero, $0) }
        }
        #expect(stranger?.code == .unknownOrigin)
        let now = cluster.clock(1).stamp
        try cluster[1].write { try ClockDecision.accept([cluster.origin(0)], now: now, $0) }
        #expect(try cluster.pull(1, from: 0).report.applied == 1)
        #expect(try cluster.text(1, Self.select) == ["1:mad"])
        // A running clock stays equally far ahead.
        cluster.advance(60_000)
        try cluster.execute(0, "UPDATE t SET a = 'madder'")
        #expect(try cluster.pull(1, from: 0).report.applied == 1)
        // A replica that accepts them is ahead itself from then on, and reports it.
        try cluster.execute(1, "INSERT INTO t VALUES(2, 'follows')")
        #expect(try cluster.clocks(seenBy: 1).isHeldBackByOthers)
        try cluster.pull(2, from: 1)
        #expect(try cluster.text(2, Self.select).isEmpty)
        try cluster[1].write { try ClockDecision.reset([cluster.origin(0)], $0) }
        let again = #expect(throws: JournalError.self) {
            try cluster[1].write { try ClockDecision.reset([cluster.origin(0)], $0) }
        }
        #expect(again?.code == .unknownOrigin)
        try cluster.execute(0, "UPDATE t SET a = 'maddest'")
        #expect(try cluster.pull(1, from: 0).report.isDeferred)
    }

    @Test("a clock 10 years behind holds back all changes of others and loses none of its own")
    func behind() throws {
        let cluster = try ClockedCluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO t VALUES(1, 'seen')")
        try cluster.converge()
        cluster.advance(-10 * year, [1])
        // It has merged a change with today's stamp, so its own writes come after that.
        try cluster.execute(1, "UPDATE t SET a = 'answer'")
        try cluster.converge()
        for index in 0..<2 { #expect(try cluster.text(index, Self.select) == ["1:answer"]) }
        cluster.advance(1_000)
        try cluster.execute(0, "INSERT INTO t VALUES(2, 'unseen')")
        try cluster.pull(1, from: 0)
        #expect(try cluster.text(1, Self.select) == ["1:answer"])
        try cluster.execute(1, "INSERT INTO t VALUES(3, 'goes out')")
        try cluster.pull(0, from: 1)
        #expect(try cluster.text(0, Self.select) == ["1:answer", "2:unseen", "3:goes out"])
        cluster.advance(10 * year, [1])
        try cluster.pull(1, from: 0)
        #expect(try cluster.text(1, Self.select) == cluster.text(0, Self.select))
    }

    @Test("stamps rise on a clock that steps and on a clock that stops, and a write is always after what it saw")
    func stepping() throws {
        let cluster = try ClockedCluster(2, schema: Self.schema)
        let steps: [Int64] = [0, 0, 5, -7_200_000, 100_000, -1, 0, 60_000, -86_400_000, 0]
        for (round, step) in steps.enumerated() {
            cluster.advance(step, [round % 2])
            try cluster.execute(round % 2, "INSERT INTO t VALUES(\(round), 'x'); UPDATE t SET a = '\(round)'")
            cluster.clock((round + 1) % 2).set(cluster.now)
            try cluster.pull((round + 1) % 2, from: round % 2)
            let last = try #require(try cluster.stamps(round % 2).last)
            #expect(try cluster.stamps(round % 2).allSatisfy { $0 <= last })
            #expect(try Set(cluster.text((round + 1) % 2, "SELECT a FROM t")) == ["\(round)"])
        }
        try cluster.converge()
        #expect(try cluster.text(0, Self.select) == cluster.text(1, Self.select))
        #expect(try cluster.stamps(0).max().map { $0.milliseconds <= cluster.now + 120_000 } == true)
    }

    @Test("two machines that write in one tick agree on the winner")
    func equalTick() throws {
        let cluster = try ClockedCluster(3, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO t VALUES(1, 'x')")
        try cluster.converge()
        cluster.advance(10_000)
        for index in 0..<3 { try cluster.execute(index, "UPDATE t SET a = 'by \(index)'") }
        try cluster.converge()
        for index in 0..<3 {
            #expect(try cluster.text(index, Self.select) == ["1:by 2"])
            #expect(try cluster[index].read { try ConflictLedger($0).entries() }.count == 2)
        }
    }
}

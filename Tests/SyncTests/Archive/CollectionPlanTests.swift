import Journal
import Testing

@testable import Sync

@Suite("What a collection may remove")
struct CollectionPlanTests {
    private let now: Int64 = 1_000 * 86_400_000
    private let day: Int64 = 86_400_000
    private let a = OriginID(high: 1, low: 1)
    private let b = OriginID(high: 2, low: 1)

    private func vector(_ a: Int64, _ b: Int64 = 0) -> VersionVector {
        VersionVector([.init(origin: self.a, version: a), .init(origin: self.b, version: b)])
    }

    private func snapshot(_ id: String, _ vector: VersionVector, days: Int64, isWhole: Bool = true)
        -> CollectionPlan.Snapshot
    {
        .init(id: id, vector: vector, milliseconds: now - days * day, isWhole: isWhole)
    }

    private func plan(
        _ snapshots: [CollectionPlan.Snapshot], _ members: [CollectionPlan.Member] = [],
        writers: [CollectionPlan.Writer] = []
    ) -> CollectionPlan {
        CollectionPlan(
            snapshots: snapshots, members: members, writers: writers, now: now, CollectionSettings())
    }

    @Test("without a whole snapshot nothing goes, and it is said")
    func noSnapshot() {
        for snapshots in [[], [snapshot("s", vector(9), days: 1, isWhole: false)]] {
            let plan = plan(snapshots)
            #expect(plan.dispensable.isEmpty)
            #expect(plan.obstacles.count == 1)
        }
    }

    @Test("what every snapshot and every living replica has is dispensable")
    func floor() {
        let snapshots = [snapshot("old", vector(7, 9), days: 9), snapshot("new", vector(9, 9), days: 1)]
        #expect(plan(snapshots).dispensable == vector(7, 9))
        let member = CollectionPlan.Member(origin: b, vector: vector(8, 3), milliseconds: now - 29 * day)
        #expect(plan(snapshots, [member]).dispensable == vector(7, 3))
    }

    @Test("a damaged snapshot holds back, too: it may be read again")
    func damaged() {
        let snapshots = [snapshot("cut", vector(2), days: 9, isWhole: false), snapshot("new", vector(9), days: 1)]
        #expect(plan(snapshots).dispensable == vector(2))
    }

    @Test("a replica that is not heard of for the lease holds nothing back")
    func lease() {
        let member = CollectionPlan.Member(origin: b, vector: vector(1), milliseconds: now - 30 * day)
        #expect(plan([snapshot("s", vector(9), days: 1)], [member]).dispensable == vector(9))
    }

    @Test("a writer that has not told what it has merged holds everything back, until its lease has passed")
    func silentWriter() {
        let snapshots = [snapshot("s", vector(9), days: 1)]
        let late = plan(snapshots, writers: [.init(origin: b, milliseconds: now - 2 * day)])
        #expect(late.dispensable.isEmpty)
        #expect(late.obstacles == ["\(b) writes, and has not told what it has merged"])
        #expect(plan(snapshots, writers: [.init(origin: b, milliseconds: now - 31 * day)]).obstacles.isEmpty)
    }

    @Test("the newest two snapshots stay, and one of each week that is kept")
    func surplus() {
        let snapshots =
            (0...20).map { snapshot("day\($0)", vector(100 - $0), days: $0) }
            + [snapshot("ancient", vector(1), days: 200)]
        let surplus = Set(plan(snapshots).surplus)
        #expect(surplus.isDisjoint(with: ["day0", "day1"]))
        #expect(surplus.contains("ancient"))
        // Day 1 000 is the last of its week.
        let weekly = Set(snapshots.map(\.id)).subtracting(surplus)
        #expect(weekly == ["day0", "day1", "day7", "day14"])
    }

    @Test("a snapshot that was written while the store's clock was ahead takes the place of no newer one")
    func future() {
        let snapshots = (0...3).map { snapshot("day\($0)", vector(100 - $0), days: $0) }
        #expect(plan(snapshots + [snapshot("ahead", vector(50), days: -365)]).surplus == ["ahead", "day3", "day2"])
    }

    @Test("a snapshot that has what no other one has stays")
    func unique() {
        let snapshots = [
            snapshot("only", vector(1, 5), days: 300), snapshot("x", vector(8), days: 2),
            snapshot("y", vector(9), days: 1),
        ]
        #expect(plan(snapshots).surplus.isEmpty)
    }
}

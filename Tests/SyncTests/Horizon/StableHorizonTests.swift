import Journal
import Testing

@testable import Sync

@Suite("What is stable follows from what other replicas acknowledged")
struct StableHorizonTests {
    let me = OriginID(high: 1, low: 1)
    let a = OriginID(high: 2, low: 1)
    let b = OriginID(high: 3, low: 1)

    private func vector(_ mine: Int64, _ ofA: Int64, _ ofB: Int64 = 0) -> VersionVector {
        VersionVector([(me, mine), (a, ofA), (b, ofB)].map { .init(origin: $0.0, version: $0.1) })
    }

    private func horizon(
        _ ours: VersionVector, _ acknowledgements: Acknowledgements, _ candidates: [StableHorizon.Candidate] = [],
        now: Int64 = 1_000, lease: Int64 = 500
    ) -> StableHorizon {
        StableHorizon(
            ours: ours, own: me, candidates: candidates, acknowledgements: acknowledgements, now: now, lease: lease)
    }

    @Test("nothing beyond the least of what all have merged is stable")
    func least() {
        var known = Acknowledgements()
        known.take(.init(origin: a, vector: vector(5, 7, 1), milliseconds: 900, witness: me), ours: vector(9, 7, 3))
        known.take(.init(origin: b, vector: vector(8, 2, 3), milliseconds: 900, witness: a), ours: vector(9, 7, 3))
        let found = horizon(vector(9, 7, 3), known)
        #expect(found.vector == vector(5, 2, 1))
        #expect(found.holders.map(\.origin) == [a, b])
    }

    @Test("an acknowledgement counts only when everything that its replica wrote before it is here")
    func unseenWrites() {
        var known = Acknowledgements()
        let early = Acknowledgement(origin: a, vector: vector(2, 4), milliseconds: 900, witness: me)
        let late = Acknowledgement(origin: a, vector: vector(9, 6), milliseconds: 950, witness: b)
        known.take(early, ours: vector(9, 4))
        // Versions 5 and 6 of a are not here: one of them may be concurrent to a change that it has merged.
        known.take(late, ours: vector(9, 4))
        #expect(horizon(vector(9, 4), known).vector == vector(2, 4))
        known.refresh(ours: vector(9, 6))
        #expect(horizon(vector(9, 6), known).vector == vector(9, 6))
    }

    @Test("a replica that has acknowledged nothing makes nothing stable, until its lease ends or it is forgotten")
    func silent() {
        let silent = StableHorizon.Candidate(origin: a, lastSeen: 700)
        #expect(horizon(vector(9, 4), Acknowledgements(), [silent]).vector.isEmpty)
        #expect(horizon(vector(9, 4), Acknowledgements(), [silent], now: 1_201).vector == vector(9, 4))
        let forgotten = StableHorizon.Candidate(origin: a, lastSeen: 700, forgotten: 800)
        #expect(horizon(vector(9, 4), Acknowledgements(), [forgotten]).isAlone)
        // It has written again since.
        let back = StableHorizon.Candidate(origin: a, lastSeen: 900, forgotten: 800)
        #expect(horizon(vector(9, 4), Acknowledgements(), [back]).vector.isEmpty)
    }

    @Test("an older acknowledgement that arrives late lowers nothing, and a relay's news renews a lease")
    func order() {
        var known = Acknowledgements()
        known.take(.init(origin: a, vector: vector(5, 7), milliseconds: 100, witness: me), ours: vector(9, 7))
        known.take(.init(origin: a, vector: vector(3, 6), milliseconds: 800, witness: b), ours: vector(9, 7))
        let found = horizon(vector(9, 7), known)
        #expect(found.vector == vector(5, 7))
        #expect(found.members[0].lastSeen == 800 && found.members[0].witness == b)
    }

    @Test("what an archive holds goes on counting when it has lost something that it had acknowledged")
    func archiveThatLost() {
        let archive = OriginID(high: 4, low: 1)
        var known = Acknowledgements()
        known.take(
            .init(origin: archive, vector: vector(5, 7, 3), milliseconds: 800, witness: me), ours: vector(9, 7, 3))
        known.take(
            .init(origin: archive, vector: vector(9, 7), milliseconds: 900, witness: me), ours: vector(9, 7, 3))
        #expect(horizon(vector(9, 7, 3), known).vector == vector(9, 7, 3))
        // In any order.
        known.take(
            .init(origin: archive, vector: vector(6, 7, 3), milliseconds: 850, witness: a), ours: vector(9, 7, 3))
        #expect(horizon(vector(9, 7, 3), known).vector == vector(9, 7, 3))
    }

    @Test("a pass over the journal is due when a share of it has become stable, and after a time in any case")
    func pace() {
        var pace = CompactionPace(longestMilliseconds: 1_000)
        #expect(!pace.isDue(VersionVector(), entries: 100, now: 0))
        #expect(pace.isDue(vector(10, 0), entries: 100, now: 0))
        pace.passed(vector(10, 0), now: 0)
        #expect(!pace.isDue(vector(10, 0), entries: 100, now: 999))
        #expect(!pace.isDue(vector(15, 0), entries: 100, now: 999))
        #expect(pace.isDue(vector(16, 0), entries: 100, now: 999))
        // What was too young then may be old enough.
        #expect(pace.isDue(vector(10, 0), entries: 100, now: 1_000))
    }
}

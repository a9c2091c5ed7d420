import Journal
import Testing

@testable import Sync

@Suite("The admission of a batch")
struct AdmissionTests {
    private let own = OriginID(high: 1, low: 1)
    private let a = OriginID(high: 2, low: 2)
    private let b = OriginID(high: 3, low: 3)
    private let c = OriginID(high: 4, low: 4)
    private let latest = Stamp(milliseconds: 1_000)

    private struct Stretch {
        var origin: OriginID
        var first: Int64 = 1
        var stamps: [Int64]
        var known: [OriginID: Int64] = [:]
        var life: Int64 = 1
    }

    private func batch(_ stretches: [Stretch]) -> ChangeBatch {
        var batch = ChangeBatch()
        batch.shapes = [TableShape(table: "t", columns: ["id"], keyCount: 1)]
        for stretch in stretches {
            let start = batch.changes.count
            for stamp in stretch.stamps {
                let index = batch.changes.count
                batch.values.append(.integer(Int64(index)))
                batch.changes.append(
                    Change(
                        shape: 0, operation: .insert, life: stretch.life, stamp: Stamp(milliseconds: stamp),
                        mask: ColumnMask(all: 1), values: index..<(index + 1), endsTransaction: true))
            }
            let known = stretch.known.map { VersionVector.Entry(origin: $0.key, version: $0.value) }
            batch.runs.append(
                Run(
                    origin: stretch.origin, firstVersion: stretch.first, changes: start..<batch.changes.count,
                    known: VersionVector(known)))
        }
        return batch
    }

    private func decide(
        _ stretches: [Stretch], have: VersionVector = VersionVector(), _ clocks: DeferredOrigins = DeferredOrigins()
    )
        throws -> Admission
    {
        try Admission.decide(batch(stretches), have: have, own: own, latest: latest, clocks: clocks)
    }

    @Test("an early stamp of one origin holds back what builds on it, at any distance, and nothing else")
    func chain() throws {
        let admission = try decide([
            Stretch(origin: a, stamps: [10, 5_000]), Stretch(origin: b, stamps: [20], known: [a: 1]),
            Stretch(origin: b, first: 2, stamps: [30], known: [a: 2]), Stretch(origin: c, stamps: [40], known: [b: 2]),
            Stretch(origin: a, first: 3, stamps: [6_000]), Stretch(origin: c, first: 2, stamps: [50]),
        ])
        #expect(admission.parts.map(\.run) == [0, 1])
        #expect(admission.parts[0].changes == 0..<1)
        #expect(
            admission.deferred.sorted { $0.origin < $1.origin } == [
                DeferredOrigin(origin: a, firstVersion: 2, lastVersion: 3, stamp: Stamp(milliseconds: 5_000)),
                DeferredOrigin(origin: b, firstVersion: 2, lastVersion: 2, cause: a),
                DeferredOrigin(origin: c, firstVersion: 1, lastVersion: 2, cause: b),
            ])
    }

    @Test("what follows a held-back stretch is held back, and a gap behind it is a gap")
    func continued() throws {
        var clocks = DeferredOrigins()
        clocks.set(DeferredOrigin(origin: a, firstVersion: 1, lastVersion: 4, stamp: Stamp(milliseconds: 5_000)))
        let next = try decide([Stretch(origin: a, first: 5, stamps: [6_000])], clocks)
        #expect(next.parts.isEmpty && next.deferred.map(\.lastVersion) == [5])
        // Its changes are known, so nothing is noted.
        #expect(try !decide([Stretch(origin: a, first: 3, stamps: [5_500])], clocks).isDeferred)
        let error = #expect(throws: SyncError.self) {
            try decide([Stretch(origin: a, first: 7, stamps: [7_000])], clocks)
        }
        #expect(error?.code == .gap)
    }

    @Test(
        "held-back changes are due when the clock reaches them or when they are accepted, and so is what builds on them"
    )
    func due() {
        var clocks = DeferredOrigins()
        clocks.set(DeferredOrigin(origin: a, firstVersion: 1, lastVersion: 4, stamp: Stamp(milliseconds: 5_000)))
        clocks.set(DeferredOrigin(origin: b, firstVersion: 3, lastVersion: 3, cause: a))
        #expect(clocks.deferred(latest: latest).entries.map(\.version) == [4, 3])
        #expect(clocks.deferred(latest: Stamp(milliseconds: 5_000)).isEmpty)
        clocks.allow(4_000, of: a)
        #expect(clocks.deferred(latest: latest).isEmpty)
        // A damaged file may have any content.
        var circle = DeferredOrigins()
        circle.set(DeferredOrigin(origin: a, firstVersion: 1, lastVersion: 1, cause: b))
        circle.set(DeferredOrigin(origin: b, firstVersion: 1, lastVersion: 1, cause: a))
        #expect(circle.isDue(a, latest: latest))
        clocks.allow(.max, of: a)
        #expect(clocks.latest(of: a, latest) > latest)
    }

    @Test("B47: a life beyond what any history leads to holds its origin back, and a life at the bound is accepted")
    func lives() throws {
        let known: [OriginID: Int64] = [b: 5]
        let have = VersionVector([.init(origin: b, version: 5), .init(origin: a, version: 2)])
        func life(_ life: Int64) throws -> Admission {
            try decide(
                [Stretch(origin: a, first: 3, stamps: [1], known: known, life: life), Stretch(origin: c, stamps: [1])],
                have: have)
        }
        #expect(try life(9).parts.count == 2)
        let wrong = try life(11)
        #expect(wrong.parts.map(\.run) == [1])
        #expect(wrong.deferred.map(\.isContradictory) == [true])
        let unbounded = try decide([Stretch(origin: a, stamps: [1], known: [b: 1 << 60], life: .max)])
        #expect(unbounded.parts.isEmpty && unbounded.isDeferred)
    }

    @Test(
        "B50: stamps of one origin rise; an origin is held back from the first stamp that does not, and others are not")
    func risingStamps() throws {
        let stretches = [Stretch(origin: a, stamps: [10, 20, 20, 30]), Stretch(origin: c, stamps: [5])]
        let admission = try decide(stretches)
        #expect(admission.parts.map(\.changes) == [0..<2, 4..<5])
        #expect(
            admission.deferred == [
                DeferredOrigin(origin: a, firstVersion: 3, lastVersion: 4, stamp: DeferredOrigin.never)
            ])
        // The first stamp may not be before those that are here, or before those of the previous run.
        let later = try Admission.decide(
            batch([Stretch(origin: a, first: 8, stamps: [10])]), have: VersionVector([.init(origin: a, version: 7)]),
            own: own, latest: latest, stamp: { _, version in version == 7 ? Stamp(milliseconds: 10) : nil })
        #expect(later.parts.isEmpty && later.isDeferred)
        let split = try decide([Stretch(origin: a, stamps: [10]), Stretch(origin: a, first: 2, stamps: [9])])
        #expect(split.parts.count == 1 && split.deferred.map(\.firstVersion) == [2])
    }
}

import Journal
import TestSupport
import Testing

@testable import Sync

/// The row that a policy makes of the changes of one key.
@Suite("The history of a key")
struct KeyHistoryTests {
    private static let origins = (1...4).map { OriginID(high: UInt64($0), low: 1) }

    /// Changes as writers make them who now and then learn all that another knows.
    private static func history(_ count: Int, seed: UInt64) -> [KeyHistory.Change] {
        var random = SplitMix(seed: seed)
        var known = origins.map { _ in VersionVector() }
        var stamps = origins.map { _ in Int64(0) }
        return (1...count).map { _ in
            let writer = Int(random.next() % 4)
            let other = Int(random.next() % 4)
            if random.next() % 3 == 0 {
                known[writer].merge(known[other])
                stamps[writer] = max(stamps[writer], stamps[other])
            }
            stamps[writer] += 1 + Int64(random.next() % 5)
            let before = known[writer]
            let version = before[origins[writer]] + 1
            known[writer].advance(origins[writer], to: version)
            return KeyHistory.Change(
                claim: WriteOrder(stamp: Stamp(rawValue: stamps[writer]), origin: origins[writer]), version: version,
                known: before, values: [Int(random.next() % 3): .integer(Int64(random.next() % 1_000))])
        }
    }

    private static func resolve(_ earlier: KeyHistory.Image, _ later: KeyHistory.Image) -> KeyHistory.Image {
        // Neither associative nor commutative: every difference in what is resolved with what shows.
        earlier.merging(later) { a, b in
            guard case .integer(let a) = a, case .integer(let b) = b else { return .null }
            return .integer((a &* 31 &+ b) % 1_000_003)
        }
    }

    /// The definitions, word for word and slow.
    private static func latestRow(_ changes: [KeyHistory.Change]) -> KeyHistory.Image {
        guard let latest = changes.max(by: { $0.claim < $1.claim }) else { return [:] }
        return latestRow(changes.filter(latest.knows)).merging(latest.values) { $1 }
    }

    private static func row(_ changes: [KeyHistory.Change]) -> KeyHistory.Image {
        let heads = changes.filter { change in !changes.contains { $0.knows(change) } }.sorted { $0.claim < $1.claim }
        let versions = heads.map { head in row(changes.filter(head.knows)).merging(head.values) { $1 } }
        return versions.dropFirst().reduce(versions.first ?? [:], resolve)
    }

    @Test("is what the definition says, in whatever order its changes are given", arguments: UInt64(1)...60)
    func definition(seed: UInt64) {
        let changes = Self.history(12, seed: seed)
        let history = KeyHistory(changes: changes.shuffled())
        #expect(history.latestRow() == Self.latestRow(changes))
        #expect(history.row(resolvedBy: Self.resolve) == Self.row(changes))
    }

    @Test("has a conflict when two changes have not seen each other")
    func conflict() {
        for seed in UInt64(1)...60 {
            let changes = Self.history(4, seed: seed)
            let hasConflict = changes.contains { a in
                changes.contains { a.claim != $0.claim && !a.knows($0) && !$0.knows(a) }
            }
            #expect(KeyHistory(changes: changes).hasConflict == hasConflict)
        }
    }

    /// A row of a table with a function, such as a counter, is changed for years: no depth of a thread's stack, and no
    /// cube of the number of changes.
    @Test("of many thousand changes is resolved with a call for each meeting")
    func long() {
        let (a, b) = (Self.origins[0], Self.origins[1])
        var changes: [KeyHistory.Change] = []
        for version in Int64(1)...10_000 {
            // Both have seen the round before, and not each other's change of this one.
            let known = VersionVector([a, b].map { VersionVector.Entry(origin: $0, version: version - 1) })
            for (index, origin) in [a, b].enumerated() {
                changes.append(
                    KeyHistory.Change(
                        claim: WriteOrder(stamp: Stamp(rawValue: version * 2 + Int64(index)), origin: origin),
                        version: version, known: known, values: [1: .integer(version)]))
            }
        }
        let history = KeyHistory(changes: changes)
        var calls = 0
        let row = history.row { _, later in
            calls += 1
            return later
        }
        #expect(row == [1: .integer(10_000)])
        #expect(calls == 10_000)
        #expect(history.latestRow() == [1: .integer(10_000)])
    }

    @Test("in which two changes claim to have seen each other ends, and is the same in every order")
    func contradictory() {
        let changes = zip(Self.origins, Self.origins.dropFirst()).map { origin, other in
            KeyHistory.Change(
                claim: WriteOrder(stamp: Stamp(rawValue: 5), origin: origin), version: 1,
                known: VersionVector(Self.origins.map { VersionVector.Entry(origin: $0, version: 9) }),
                values: [1: .integer(Int64(other.bytes.first ?? 0))])
        }
        let rows = (0..<10).map { _ in KeyHistory(changes: changes.shuffled()).row(resolvedBy: Self.resolve) }
        #expect(Set(rows).count == 1)
    }
}

import Journal
import TestSupport
import Testing

/// The row that a policy makes of the changes of one key.
@Suite("The history of a key")
struct KeyHistoryTests {
    private static let origins = (1...4).map { OriginID(high: UInt64($0), low: 1) }

    /// Changes of writers that sometimes learn everything that another one knows.
    private static func history(_ count: Int, seed: UInt64) -> [KeyHistory<Value>.Change] {
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
            return KeyHistory<Value>.Change(
                order: WriteOrder(stamp: Stamp(rawValue: stamps[writer]), origin: origins[writer]), version: version,
                known: before, cells: [Int(random.next() % 3): .integer(Int64(random.next() % 1_000))])
        }
    }

    private static func resolve(_ earlier: KeyHistory<Value>.Image, _ later: KeyHistory<Value>.Image)
        -> KeyHistory<Value>.Image
    {
        // Neither associative nor commutative, so every difference in the calls changes the result.
        earlier.merging(later) { a, b in
            guard case .integer(let a) = a, case .integer(let b) = b else { return .null }
            return .integer((a &* 31 &+ b) % 1_000_003)
        }
    }

    /// The definitions, literal and slow.
    private static func latestRow(_ changes: [KeyHistory<Value>.Change]) -> KeyHistory<Value>.Image {
        guard let latest = changes.max(by: { $0.order < $1.order }) else { return [:] }
        return latestRow(changes.filter(latest.knows)).merging(latest.cells) { $1 }
    }

    private static func row(_ changes: [KeyHistory<Value>.Change]) -> KeyHistory<Value>.Image {
        let heads = changes.filter { change in !changes.contains { $0.knows(change) } }.sorted { $0.order < $1.order }
        let versions = heads.map { head in row(changes.filter(head.knows)).merging(head.cells) { $1 } }
        return versions.dropFirst().reduce(versions.first ?? [:], resolve)
    }

    @Test("is what the definition says, for its changes in any order", arguments: UInt64(1)...60)
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
                changes.contains { a.order != $0.order && !a.knows($0) && !$0.knows(a) }
            }
            #expect(KeyHistory(changes: changes).hasConflict == hasConflict)
        }
    }

    /// A row of a table with a function, such as a counter, may have changed for years. Resolving it must
    /// need neither a deep stack nor time in the cube of the number of changes.
    @Test("of many thousand changes is resolved with one call for each pair that conflicts")
    func long() {
        let (a, b) = (Self.origins[0], Self.origins[1])
        var changes: [KeyHistory<Value>.Change] = []
        for version in Int64(1)...10_000 {
            // Both have seen the previous round, and not each other's change of this round.
            let known = VersionVector([a, b].map { VersionVector.Entry(origin: $0, version: version - 1) })
            for (index, origin) in [a, b].enumerated() {
                changes.append(
                    KeyHistory<Value>.Change(
                        order: WriteOrder(stamp: Stamp(rawValue: version * 2 + Int64(index)), origin: origin),
                        version: version, known: known, cells: [1: .integer(version)]))
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

    @Test("with two changes that claim to have seen each other ends, and is the same in every order")
    func contradictory() {
        let changes = zip(Self.origins, Self.origins.dropFirst()).map { origin, other in
            KeyHistory<Value>.Change(
                order: WriteOrder(stamp: Stamp(rawValue: 5), origin: origin), version: 1,
                known: VersionVector(Self.origins.map { VersionVector.Entry(origin: $0, version: 9) }),
                cells: [1: .integer(Int64(other.bytes.first ?? 0))])
        }
        let rows = (0..<10).map { _ in KeyHistory(changes: changes.shuffled()).row(resolvedBy: Self.resolve) }
        #expect(Set(rows).count == 1)
    }
}

import Journal
import Testing

@testable import Sync

@Suite struct HoldingsTests {
    private let a = OriginID(high: 1, low: 1)
    private let b = OriginID(high: 2, low: 1)

    private func holdings(_ ranges: [(OriginID, Int64, Int64)], ends: [(OriginID, Int64)]? = nil) throws -> Holdings {
        struct Stored: Encodable {
            var ranges: [Holdings.Range]
            var ends: StoredVector
        }
        let all = ranges.map { Holdings.Range(origin: StoredOrigin($0.0), first: $0.1, last: $0.2) }
        let whole = VersionVector((ends ?? ranges.map { ($0.0, $0.2) }).map { .init(origin: $0.0, version: $0.1) })
        var holdings = Holdings()
        for range in all {
            holdings.merge(
                try ArchiveJSON.decode(
                    ArchiveJSON.encode(Stored(ranges: [range], ends: StoredVector(whole))), "holdings"))
        }
        return holdings
    }

    @Test("ranges that touch are one, in whatever order they come")
    func touching() throws {
        let holds = try holdings([(a, 5, 6), (b, 1, 1), (a, 1, 2), (a, 3, 4), (a, 9, 9)])
        #expect(holds.ranges.map { [$0.first, $0.last] } == [[1, 6], [9, 9], [1, 1]])
    }

    @Test("what lies behind a gap cannot be reached, and a base closes a gap")
    func gap() throws {
        let holds = try holdings([(a, 3, 6), (b, 1, 2)])
        #expect(holds.reachable(from: VersionVector()).all == VersionVector([.init(origin: b, version: 2)]))
        #expect(!holds.isCovered(by: holds.reachable(from: VersionVector()).all))
        let base = VersionVector([.init(origin: a, version: 2)])
        #expect(holds.reachable(from: base).all[a] == 6)
        #expect(holds.isCovered(by: holds.reachable(from: base).all))
    }

    @Test("a transaction whose end is not there does not count as whole")
    func whole() throws {
        let holds = try holdings([(a, 1, 6)], ends: [(a, 4)])
        let (all, whole) = holds.reachable(from: VersionVector())
        #expect(all[a] == 6 && whole[a] == 4)
    }
}

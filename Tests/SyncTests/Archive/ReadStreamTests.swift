import Journal
import Testing

@testable import Sync

@Suite("What a reader knows of one stream") struct ReadStreamTests {
    private let origin = OriginID(high: 1, low: 1)

    private func holdings(_ versions: ClosedRange<Int64>) throws -> Holdings {
        struct Stored: Encodable {
            var ranges: [Holdings.Range]
            var ends: StoredVector
        }
        let end = VersionVector([.init(origin: origin, version: versions.upperBound)])
        let range = Holdings.Range(
            origin: StoredOrigin(origin), first: versions.lowerBound, last: versions.upperBound)
        return try ArchiveJSON.decode(
            ArchiveJSON.encode(Stored(ranges: [range], ends: StoredVector(end))), "holdings")
    }

    private func head(_ last: Int64, _ versions: ClosedRange<Int64>) throws -> StreamHead {
        StreamHead(
            stream: StoredStream(StreamID(1)), writer: StoredOrigin(origin), last: last, milliseconds: 0,
            holds: try holdings(versions), sample: nil)
    }

    /// A stream whose first two packs are announced, and the third one was read behind the head.
    private func stream(isDamaged: Bool) throws -> StreamReader.Stream {
        var stream = StreamReader.Stream(next: 4, news: 0)
        stream.head = try head(2, 1...2)
        if isDamaged { stream.remains = try holdings(2...2) }
        stream.ahead = try holdings(3...3)
        stream.unannounced = stream.ahead
        return stream
    }

    @Test("what was read behind a head counts again once a head tells of it", arguments: [false, true])
    func announcedLate(isDamaged: Bool) throws {
        var stream = try stream(isDamaged: isDamaged)
        stream.announce(stream.head)
        #expect(stream.holds == (try isDamaged ? holdings(2...2) : holdings(1...2)))
        #expect(!stream.unannounced.ranges.isEmpty)
        stream.announce(try head(3, 1...3))
        #expect(stream.holds == (try isDamaged ? holdings(2...3) : holdings(1...3)))
        #expect(stream.unannounced.ranges.isEmpty && stream.next == 4)
    }

    @Test("a damaged stream with a shorter head than before is read anew")
    func shorter() throws {
        var stream = try stream(isDamaged: true)
        stream.announce(try head(1, 1...1))
        #expect(stream.holds.ranges.isEmpty && stream.unannounced.ranges.isEmpty && stream.next == 1)
    }

    @Test("of a damaged stream whose head tells of a part of what was read, that part is read again")
    func announcedInPart() throws {
        var stream = try stream(isDamaged: true)
        stream.next = 5
        stream.announce(try head(3, 1...3))
        #expect(stream.next == 3)
    }
}

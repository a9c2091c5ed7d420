import Journal
import TestSupport
import Testing

@testable import Sync

@Suite("The log of a hub") struct HubLogTests {
    private let a = OriginID.random()
    private let b = OriginID.random()

    private func frame(_ origin: OriginID, _ versions: ClosedRange<Int64>) -> Frame {
        Frame(
            body: .batch(
                covers: [Cover(origin: origin, first: versions.lowerBound, last: versions.upperBound)], encoding: .none,
                rawSize: 10), payload: Array(repeating: 1, count: 10))
    }

    private func vector(_ versions: [OriginID: Int64]) -> VersionVector {
        VersionVector(versions.map { .init(origin: $0.key, version: $0.value) })
    }

    private func filled(cacheBytes: Int = 1_000) -> HubLog {
        var log = HubLog(cacheBytes: cacheBytes)
        log.append(frame(a, 1...3), at: nil)
        log.append(frame(b, 1...1), at: nil)
        log.append(frame(a, 4...4), at: nil)
        return log
    }

    @Test("finds the first record that somebody lacks, and the record of a version")
    func positions() {
        let log = filled()
        #expect(log.have == vector([a: 4, b: 1]))
        #expect(log.position(after: VersionVector()) == 0)
        #expect(log.position(after: vector([a: 2, b: 1])) == 0)
        #expect(log.position(after: vector([a: 3])) == 1)
        #expect(log.position(after: vector([a: 3, b: 1])) == 2)
        #expect(log.position(after: vector([a: 9, b: 9])) == 3)
        #expect(log.position(of: 3, by: a) == 0 && log.position(of: 4, by: a) == 2)
        #expect(log.position(of: 5, by: a) == nil && log.position(of: 1, by: .random()) == nil)
    }

    @Test("drops the oldest payloads beyond its room, but none that no pack holds")
    func drops() {
        var log = filled(cacheBytes: 10)
        #expect(log.loadedBytes == 30)
        let place = HubLog.Place(stream: StreamID(1), sequence: 1)
        log.place(1, at: place)
        #expect(log.loadedBytes == 20)
        log.place(0, at: place)
        #expect(log.loadedBytes == 10)
        #expect(log.records.map(\.isLoaded) == [false, false, true])
        // The one that no pack holds stays; the next one goes.
        log.append(frame(b, 2...2), at: place)
        #expect(log.loadedBytes == 10)
        #expect(log.records.map(\.isLoaded) == [false, false, true, false])
    }

    @Test("changes that no record brings count as had")
    func floor() {
        var log = HubLog(cacheBytes: 0)
        log.begin(at: vector([a: 7]))
        log.append(frame(a, 8...8), at: nil)
        #expect(log.position(after: vector([a: 7])) == 0 && log.position(after: vector([a: 8])) == 1)
        #expect(log.position(of: 3, by: a) == 0)
    }
}

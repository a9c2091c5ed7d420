import Journal
import TestSupport
import Testing

@testable import Sync

@Suite("What replicas have told an archive")
struct ToldAcknowledgementsTests {
    private let hour: Int64 = 3_600_000
    private let a = OriginID(high: 1, low: 1)
    private let b = OriginID(high: 2, low: 2)
    private let c = OriginID(high: 3, low: 3)

    private func acknowledgement(of origin: OriginID, _ version: Int64, hours: Int64) -> Acknowledgement {
        Acknowledgement(
            origin: origin, vector: VersionVector([.init(origin: origin, version: version)]),
            milliseconds: hours * hour,
            witness: origin)
    }

    /// What an archive was told at the hour 100.
    private func told(_ objects: ArchivedAcknowledgement...) async throws -> ToldAcknowledgements {
        let store = MemoryStore(clock: { 100 * hour })
        for object in objects {
            try await store.replace(ArchiveKeys.acknowledgement(object.own.origin.origin), ArchiveJSON.encode(object))
        }
        var told = ToldAcknowledgements()
        try await told.read(store, wall: 100 * hour)
        return told
    }

    @Test("a replica that has told the archive itself within two hours speaks for itself")
    func itself() async throws {
        let told = try await told(ArchivedAcknowledgement(acknowledgement(of: c, 5, hours: 10)))
        for (hours, isTold) in [(Int64(11), false), (13, true)] {
            let heard = acknowledgement(of: c, 6, hours: hours)
            #expect(told.unheard([heard], by: a, every: hour) == (isTold ? [heard] : []))
        }
    }

    @Test("what another one tells need not be told again; what a replica told before must be")
    func others() async throws {
        let heard = acknowledgement(of: c, 5, hours: 10)
        let told = try await told(
            ArchivedAcknowledgement(acknowledgement(of: b, 1, hours: 10), heard: [heard]))
        #expect(told.unheard([heard], by: a, every: hour) == [])
        #expect(told.unheard([heard], by: b, every: hour) == [heard])
        for later in [acknowledgement(of: c, 6, hours: 10), acknowledgement(of: c, 5, hours: 11)] {
            #expect(told.unheard([later], by: a, every: hour) == [later])
        }
    }

    @Test("the newest of each replica counts, whoever told it, and no time is later than the store's or this machine's")
    func newest() async throws {
        let told = try await told(
            ArchivedAcknowledgement(acknowledgement(of: c, 5, hours: 10)),
            ArchivedAcknowledgement(
                acknowledgement(of: b, 1, hours: 9), heard: [acknowledgement(of: c, 6, hours: 10_000)]))
        #expect(
            told.newest == [acknowledgement(of: c, 6, hours: 100), acknowledgement(of: b, 1, hours: 9)])
    }

    @Test("only what is heard anew is news; that replicas still live is none")
    func news() {
        func said(_ version: Int64, hours: Int64) -> ArchivedAcknowledgement {
            ArchivedAcknowledgement(
                acknowledgement(of: a, 1, hours: hours), heard: [acknowledgement(of: c, version, hours: hours)])
        }
        let first = said(5, hours: 1)
        #expect(!said(5, hours: 2).isNews(after: first))
        #expect(said(6, hours: 1).isNews(after: first))
        #expect(first.isNews(after: ArchivedAcknowledgement(acknowledgement(of: a, 1, hours: 1))))
        #expect(!ArchivedAcknowledgement(acknowledgement(of: a, 1, hours: 1)).isNews(after: first))
    }
}

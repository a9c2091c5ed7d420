import Foundation
import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

@Suite("What is known of peers costs no commit while they are followed")
struct PeerRecordsTests {
    let directory = TemporaryDirectory()
    let fixture: ReplicaFixture
    let own: OriginID
    let peer = OriginID(high: 7, low: 7)

    init() throws {
        fixture = try ReplicaFixture(
            directory.file("a.sqlite"), schema: "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
        own = try fixture.origin
    }

    private func status(_ confirmed: Int64, at milliseconds: Int64 = 5_000) -> PeerStatus {
        var status = PeerStatus(name: "http://peer:1")
        status.origin = peer
        status.vector = VersionVector([.init(origin: own, version: confirmed)])
        status.lastContactMilliseconds = milliseconds
        return status
    }

    private func table() throws -> [PeerRecord] { try fixture.replica.read { try PeerTable.all($0) } }
    private func shown() throws -> [PeerRecord] {
        try fixture.replica.read { try PeerRecords.all(in: fixture.replica, $0) }
    }

    @Test("contacts and comparisons commit nothing, and other processes see them at once")
    func following() throws {
        let records = fixture.inbox.peers
        try records.beginFollowing()
        let program = try RawConnection(path: fixture.path)
        try program.run("BEGIN")
        _ = try program.rows("SELECT count(*) FROM t")
        try records.record(status(1))
        try records.record(comparisonWith: "http://peer:1", [], milliseconds: 6_000)
        #expect(program.execute("INSERT INTO t VALUES (1, 1); COMMIT") == 0)
        #expect(try table().isEmpty)
        let record = try #require(try shown().first)
        #expect(record.origin == peer && record.confirmed[own] == 1)
        #expect(record.lastContactMilliseconds == 5_000 && record.comparedMilliseconds == 6_000)
        #expect(try records.origin(of: "http://peer:1") == peer)
        #expect(try records.lastComparison(with: "http://peer:1") == 6_000)
    }

    @Test("the table gets them with changes of a peer that are applied, and at the end")
    func commits() throws {
        let records = fixture.inbox.peers
        let other = try ReplicaFixture(
            directory.file("b.sqlite"), schema: "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
        try records.beginFollowing()
        try records.record(status(1))
        try other.execute("INSERT INTO t VALUES (2, 2)")
        // Too soon after the beginning: the next commit that comes later takes them along.
        try fixture.pull(from: other)
        #expect(try table().isEmpty)
        try fixture.replica.write { try records.write(to: $0) }
        #expect(try table().first?.confirmed[own] == 1)
        try records.record(status(2, at: 9_000))
        try records.endFollowing(with: [status(3, at: 9_500)])
        #expect(try table().first?.confirmed[own] == 3)
        #expect(try table().first?.lastContactMilliseconds == 9_500)
        #expect(PeerNotes(of: fixture.replica).records(of: own).isEmpty)
        // From now on at once.
        try records.record(status(4))
        #expect(try table().first?.confirmed[own] == 4)
    }

    @Test("a daemon that died leaves them to the next one")
    func death() throws {
        try fixture.inbox.peers.beginFollowing()
        try fixture.inbox.peers.record(status(1))
        let next = PeerRecords(replica: fixture.replica, limits: .standard) { ReplicaFixture.now }
        #expect(try next.all().first?.confirmed[own] == 1)
        try next.beginFollowing()
        try next.endFollowing(with: [])
        #expect(try table().first?.confirmed[own] == 1)
    }

    @Test("confirmations of many own changes are written although nothing else is")
    func manyConfirmations() throws {
        let records = fixture.inbox.peers
        try records.beginFollowing()
        try records.record(status(Limits.standard.unrecordedChanges - 1))
        #expect(try table().isEmpty)
        try records.record(status(Limits.standard.unrecordedChanges))
        #expect(try table().count == 1)
    }

    @Test("notes that are torn, of another identity, or longer before, count as what they are")
    func bytes() throws {
        let notes = PeerNotes(of: fixture.replica)
        let path = fixture.path + "-peers"
        let names = (1...50).map { "http://peer:\($0)" }
        try notes.write(names.map { PeerRecord(name: $0, confirmed: VersionVector()) }, of: own)
        #expect(notes.records(of: own).count == 50)
        #expect(notes.records(of: peer).isEmpty)
        try notes.write([PeerRecord(name: "one", confirmed: VersionVector())], of: own)
        #expect(notes.records(of: own).map(\.name) == ["one"])
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        for count in [0, 5, 16, 40] {
            try bytes.prefix(count).write(to: URL(fileURLWithPath: path))
            #expect(notes.records(of: own).isEmpty)
        }
        try Data("tandem peers 1 99999999999999999999 -1\n{}".utf8).write(to: URL(fileURLWithPath: path))
        #expect(notes.records(of: own).isEmpty)
    }
}

import Foundation
import Journal
import TestSupport
import Testing

@testable import Sync

@Suite("Copied files")
struct CopiedFileTests {
    @Test("a copied file takes a new identity when it is opened, and neither file loses anything")
    func copiedFile() async throws {
        let fleet = try Fleet(2)
        let early = try fleet.write(0)
        try await fleet.sync(0, 1)
        // No peer has it when the file is copied.
        let late = try fleet.write(0)
        try fleet[0].backUp(to: fleet.path(2))
        let copy = try fleet.add(fleet.path(2))
        #expect(try copy.origin != fleet[0].origin)
        #expect(copy.inbox.lastRekey?.reason == .copied)
        let mine = try fleet.write(0)
        let its = try fleet.write(2)
        try await fleet.converge()
        try fleet.expectEverywhere([early, late, mine, its])
        // A change that was sent under two names does not conflict with itself.
        for machine in fleet.machines { #expect(try machine.conflicts() == 0) }
    }

    @Test("the last writes of another program under an abandoned name reach peers that join later (P21)")
    func lastOfOldName() async throws {
        let fleet = try Fleet(3)
        try RawConnection(path: fleet.path(0)).run("INSERT INTO note VALUES ('last', 'x', 0)")
        try await fleet.sync(0, 1)
        let outcome = try #require(try fleet[0].inbox.rekey())
        #expect(outcome.kept == 1 && outcome.reissued == 0)
        let next = try fleet.write(0)
        try await fleet.sync(2, 0)
        #expect(try fleet[2].ids() == ["last", next])
        try await fleet.converge()
    }

    @Test("the original keeps its identity, however often it is opened, renamed or linked")
    func noFalseAlarm() async throws {
        let fleet = try Fleet(2)
        let origin = try fleet[0].origin
        for _ in 0..<3 {
            try fleet.write(0)
            try await fleet.sync(0, 1)
            try fleet[0].whileClosed {}
        }
        try fleet[0].whileClosed {
            try FileManager.default.moveItem(atPath: fleet.path(0), toPath: fleet.path(0) + "x")
            try FileManager.default.moveItem(atPath: fleet.path(0) + "x", toPath: fleet.path(0))
        }
        try fleet[0].whileClosed { try FileManager.default.removeItem(atPath: fleet.path(0) + "-identity") }
        try fleet.write(0)
        try await fleet.converge()
        #expect(try fleet[0].origin == origin)
        #expect(try fleet[1].vector.entries.count == 1)
    }

    @Test(
        "a copy in which another program wrote before the daemon opened it publishes those writes again under its new name"
    )
    func writtenBeforeNoticed() async throws {
        let fleet = try Fleet(2)
        try fleet.write(0)
        try await fleet.sync(0, 1)
        try fleet[0].backUp(to: fleet.path(2))
        try RawConnection(path: fleet.path(2)).run("INSERT INTO note VALUES ('stranger', 'x', 0)")
        let mine = try fleet.write(0)
        try await fleet.sync(0, 1)
        try fleet.add(fleet.path(2))
        try await fleet.converge()
        try fleet.expectEverywhere([mine, "stranger"])
    }

    @Test("many copies of one file, made before it met a peer, each take an identity of their own")
    func template() async throws {
        let fleet = try Fleet(1)
        let base = try fleet.write(0)
        let copies = (1...4).map { fleet.path($0) }
        for copy in copies { try fleet[0].backUp(to: copy) }
        for copy in copies { try fleet.add(copy) }
        #expect(Set(try fleet.machines.map { try $0.origin }).count == 5)
        let ids = try fleet.machines.indices.map { try fleet.write($0) }
        try await fleet.converge()
        try fleet.expectEverywhere(ids + [base])
        for machine in fleet.machines { #expect(try machine.conflicts() == 0) }
    }

    @Test("two machines from one image: the files show no evidence, so the first contact gives both a new identity")
    func image() async throws {
        let fleet = try Fleet(2)
        let base = try fleet.write(0)
        try await fleet.sync(0, 1)
        try fleet[0].backUp(to: fleet.path(2))
        let origin = try fleet[0].origin
        try makeImage(fleet.path(2))
        let twin = try fleet.add(fleet.path(2))
        #expect(try twin.origin == origin)
        let mine = try fleet.write(0)
        let its = try [fleet.write(2), fleet.write(2)]
        try await fleet.sync(0, 2)
        #expect(try fleet[0].origin != origin && twin.origin != origin)
        #expect(try fleet[0].origin != twin.origin)
        try await fleet.converge()
        try fleet.expectEverywhere([base, mine] + its)
    }

    @Test("of two machines from one image with equal content, one takes a new identity")
    func equalImages() async throws {
        let fleet = try Fleet(1)
        let base = try fleet.write(0)
        try fleet[0].backUp(to: fleet.path(1))
        try makeImage(fleet.path(1))
        try fleet.add(fleet.path(1))
        try await fleet.sync(0, 1)
        #expect(try fleet[0].origin != fleet[1].origin)
        #expect(fleet[1].inbox.lastRekey == nil)
        let ids = try [fleet.write(0), fleet.write(1)]
        try await fleet.converge()
        try fleet.expectEverywhere(ids + [base])
    }

    @Test("a third machine tells apart two machines from one image that never meet")
    func imagesApart() async throws {
        let fleet = try Fleet(2)
        try fleet.write(0)
        try await fleet.sync(0, 1)
        try fleet[0].backUp(to: fleet.path(2))
        try makeImage(fleet.path(2))
        try fleet.add(fleet.path(2))
        let mine = try fleet.write(0)
        let its = try fleet.write(2)
        try await fleet.sync(0, 1)
        // Machine 1 has another change under the version that machine 2 sends next.
        try await fleet.sync(2, 1)
        #expect(fleet[2].inbox.lastRekey?.reason == .contradicted)
        try await fleet.converge()
        try fleet.expectEverywhere([mine, its])
    }

    @Test("a comparison shows what peers got from two images that nobody could tell apart, and a repair keeps both")
    func imagesNeverMet() async throws {
        let fleet = try Fleet(2)
        try fleet.write(0)
        try await fleet.sync(0, 1)
        try fleet[0].backUp(to: fleet.path(2))
        try makeImage(fleet.path(2))
        try fleet.add(fleet.path(2))
        try fleet.add(fleet.path(3), schema: Fleet.schema)
        let mine = try fleet.write(0)
        let its = try fleet.write(2)
        try await fleet.sync(0, 1)
        try await fleet.sync(2, 3)
        // One name has two contents: see "What cannot be detected" in docs/decisions/0006-identity.md.
        #expect(try fleet[1].vector == fleet[3].vector)
        #expect(try fleet[1].ids() != fleet[3].ids())
        let report = try await fleet.sync(1, 3)
        #expect(report.isLevel && report.mismatches.map(\.table) == ["note"])
        let replicator = try Replicator(replica: fleet[1].replica, limits: fleet.limits)
        let repaired = try await replicator.repair(PeerConfiguration(fleet.path(3)), .fromJournal)
        #expect(repaired.announced == 1 && repaired.taken == 1 && repaired.after.isEqual)
        for index in [1, 3] { #expect(try fleet[index].ids().isSuperset(of: [mine, its])) }
    }

    @Test("the same file under another address is refused, and keeps its identity")
    func itself() async throws {
        let fleet = try Fleet(1)
        try fleet.write(0)
        let origin = try fleet[0].origin
        let link = fleet.directory.file("link.sqlite")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: fleet.path(0))
        for path in [fleet.path(0), link] {
            let transport = try LocalTransport.open(path: path, limits: fleet.limits, clock: SystemClock())
            let session = SyncSession(
                replica: fleet[0].replica, inbox: fleet[0].inbox, transport: transport, limits: fleet.limits,
                clock: SystemClock())
            let error = await #expect(throws: SyncError.self) { _ = try await session.exchange() }
            #expect(error?.code == .selfPeer)
        }
        #expect(try fleet[0].origin == origin)
    }

    @Test("another file at the path of the open one is an error and no reason for a new identity")
    func replacedWhileOpen() async throws {
        let fleet = try Fleet(2)
        try fleet.write(0)
        try fleet[0].backUp(to: fleet.path(7))
        try FileManager.default.removeItem(atPath: fleet.path(0))
        try FileManager.default.copyItem(atPath: fleet.path(7), toPath: fleet.path(0))
        let error = await #expect(throws: JournalError.self) { _ = try await fleet.sync(0, 1) }
        #expect(error?.code == .displaced)
        #expect(fleet[0].inbox.lastRekey == nil)
        #expect(try fleet[1].ids().isEmpty)
    }

    /// Makes a copied file look like a machine image: the fingerprint in it is its own.
    private func makeImage(_ path: String) throws {
        try RawConnection(path: path).run("UPDATE _journal_replica SET fingerprint = NULL")
    }
}

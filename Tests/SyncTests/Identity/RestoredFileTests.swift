import Foundation
import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

@Suite("Files restored from a backup")
struct RestoredFileTests {
    @Test(
        "restored before any contact: noticed at once, and lost changes come back",
        arguments: ReplicaFixture.Restore.allCases)
    func beforeTalking(way: ReplicaFixture.Restore) async throws {
        let fleet = try Fleet(2)
        let kept = try fleet.write(0)
        try await fleet.sync(0, 1)
        try fleet[0].backUp(to: fleet.directory.file("backup"))
        let lost = try [fleet.write(0), fleet.write(0)]
        try await fleet.sync(0, 1)
        let origin = try fleet[0].origin
        try fleet[0].restore(fleet.directory.file("backup"), way)
        // When the record is gone and the file was replaced in place, only a peer can tell.
        #expect(try (fleet[0].origin != origin) == (way != .inPlaceAlone))
        let new = try fleet.write(0)
        try await fleet.converge()
        #expect(try fleet[0].origin != origin)
        try fleet.expectEverywhere([kept, new] + lost)
        for machine in fleet.machines { #expect(try machine.conflicts() == 0) }
    }

    @Test(
        "restored, and written by another program beyond what was lost: no version is ever published twice",
        arguments: ReplicaFixture.Restore.allCases)
    func overgrown(way: ReplicaFixture.Restore) async throws {
        let fleet = try Fleet(2)
        try fleet.write(0)
        try await fleet.sync(0, 1)
        try fleet[0].backUp(to: fleet.directory.file("backup"))
        let lost = try [fleet.write(0), fleet.write(0)]
        try await fleet.sync(0, 1)
        try fleet[0].restore(
            fleet.directory.file("backup"), way,
            meanwhile: "INSERT INTO note VALUES ('a', '', 0), ('b', '', 0); INSERT INTO note VALUES ('c', '', 0)")
        try await fleet.converge()
        try fleet.expectEverywhere(lost + ["a", "b", "c"])
    }

    @Test(
        "restored into the open file by SQLite's backup API: noticed at the next contact, however much was written since",
        arguments: [0, 1, 2, 5])
    func underDaemon(written: Int) async throws {
        let fleet = try Fleet(2)
        try fleet.write(0)
        try await fleet.sync(0, 1)
        let backup = fleet.directory.file("backup")
        try fleet[0].backUp(to: backup)
        let lost = try [fleet.write(0), fleet.write(0)]
        try await fleet.sync(0, 1)
        let origin = try fleet[0].origin
        try DatabaseQueue(path: backup).backup(to: DatabaseQueue(path: fleet[0].path))
        let new = try (0..<written).map { _ in try fleet.write(0) }
        try await fleet.sync(0, 1)
        #expect(try fleet[0].origin != origin)
        try await fleet.converge()
        try fleet.expectEverywhere(lost + new)
        for machine in fleet.machines { #expect(try machine.conflicts() == 0) }
    }

    @Test(
        "restored, and then met by a peer that knows less: changes that were sent then and changes that were lost are both kept"
    )
    func afterTalking() async throws {
        let fleet = try Fleet(3)
        try fleet.write(0)
        try await fleet.converge()
        try fleet[0].backUp(to: fleet.directory.file("backup"))
        let lost = try [fleet.write(0), fleet.write(0)]
        try await fleet.sync(0, 1)
        // The evidence is at the file, so the name is new before machine 2 gets it.
        try fleet[0].restore(fleet.directory.file("backup"), .inPlace)
        let new = try fleet.write(0)
        try await fleet.sync(0, 2)
        try await fleet.sync(0, 1)
        try await fleet.converge()
        try fleet.expectEverywhere(lost + [new])
    }

    @Test("without evidence at the file, the peer that has the lost changes reports them at the first contact")
    func toldByPeer() async throws {
        let fleet = try Fleet(3)
        try fleet.write(0)
        try await fleet.converge()
        try fleet[0].backUp(to: fleet.directory.file("backup"))
        let lost = try [fleet.write(0), fleet.write(0)]
        try await fleet.sync(0, 1)
        let origin = try fleet[0].origin
        try fleet[0].restore(fleet.directory.file("backup"), .inPlaceAlone)
        let report = try await fleet.sync(0, 1)
        #expect(fleet[0].inbox.lastRekey?.reason == .outrun)
        #expect(fleet[0].inbox.lastRekey?.reissued == 0)
        // This happens in the same session.
        #expect(report.pulledChanges == 2 && report.isLevel)
        #expect(try fleet[0].vector[origin] == 3)
        try await fleet.converge()
        try fleet.expectEverywhere(lost)
    }

    @Test("a caller tells a passive replica that it was restored, and the exchange continues")
    func toldByCaller() async throws {
        let fleet = try Fleet(2)
        try fleet.write(1)
        try await fleet.sync(0, 1)
        try fleet[1].backUp(to: fleet.directory.file("backup"))
        let lost = try fleet.write(1)
        try await fleet.sync(0, 1)
        try fleet[1].restore(fleet.directory.file("backup"), .inPlaceAlone)
        let new = try fleet.write(1)
        let report = try await fleet.sync(0, 1)
        #expect(fleet[1].inbox.lastRekey?.reason == .contradicted)
        #expect(report.isLevel)
        try fleet.expectEverywhere([lost, new])
        try await fleet.converge()
    }

    @Test("restored twice, from the same backup and from an older one")
    func twice() async throws {
        let fleet = try Fleet(2)
        let first = fleet.directory.file("first")
        let second = fleet.directory.file("second")
        var ids = [try fleet.write(0)]
        try await fleet.sync(0, 1)
        try fleet[0].backUp(to: first)
        ids.append(try fleet.write(0))
        try await fleet.sync(0, 1)
        try fleet[0].backUp(to: second)
        for backup in [second, second, first, second] {
            ids.append(try fleet.write(0))
            try await fleet.sync(0, 1)
            try fleet[0].restore(backup, .inPlace)
            ids.append(try fleet.write(0))
            try await fleet.sync(0, 1)
        }
        try await fleet.converge()
        try fleet.expectEverywhere(ids)
        let names = try fleet[1].vector.entries.map(\.origin)
        #expect(Set(names).count == names.count && names.count >= 5)
    }

    @Test(
        "several machines restored at once, from backups of different days",
        arguments: [ReplicaFixture.Restore.newFile, .inPlace])
    func severalAtOnce(way: ReplicaFixture.Restore) async throws {
        let fleet = try Fleet(3)
        var ids: [String] = []
        for index in 0..<3 {
            ids.append(try fleet.write(index))
            try await fleet.converge()
            try fleet[index].backUp(to: fleet.directory.file("backup \(index)"))
        }
        for index in 0..<3 { ids.append(try fleet.write(index)) }
        try await fleet.converge()
        // Machine 2 is not restored, so each change survives on some machine.
        for index in 0..<2 { try fleet[index].restore(fleet.directory.file("backup \(index)"), way) }
        for index in 0..<3 { ids.append(try fleet.write(index)) }
        try await fleet.converge()
        try fleet.expectEverywhere(ids)
    }

    @Test("a new peer at the same address confirms nothing of what the old one had, and gets everything")
    func peerRecreated() async throws {
        let fleet = try Fleet(2)
        let ids = try (0..<5).map { _ in try fleet.write(0) }
        try await fleet.sync(0, 1)
        func confirmed() throws -> VersionVector? {
            try fleet[0].replica.read { try PeerTable.all($0).first?.confirmed }
        }
        let mine = try fleet[0].origin
        #expect(try confirmed()?[mine] == 5)
        let first = try fleet[1].origin
        try fleet[1].whileClosed {
            for suffix in ["", "-identity", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: fleet.path(1) + suffix)
            }
            try RawConnection(path: fleet.path(1)).run(Fleet.schema)
            try Replica.create(at: fleet.path(1), InitializeRequest()).replica.close()
        }
        #expect(try fleet[1].origin != first)
        // The exchange breaks off after the hello. Even then nothing remains of what the old peer said.
        let greeting = PeerStatus(name: fleet.path(1))
        try fleet[0].replica.write { try PeerTable.record(greeting, $0) }
        #expect(try confirmed() == VersionVector())
        let report = try await fleet.sync(0, 1)
        #expect(report.pushedChanges == 5)
        #expect(try confirmed()?[mine] == 5)
        #expect(fleet[0].inbox.lastRekey == nil)
        try await fleet.converge()
        try fleet.expectEverywhere(ids)
    }

    @Test("edits of one row before and after the backup merge normally")
    func edits() async throws {
        let fleet = try Fleet(2)
        let id = try fleet.write(0)
        try await fleet.sync(0, 1)
        try fleet[0].execute("UPDATE note SET text = 'before' WHERE id = '\(id)'")
        try fleet[0].backUp(to: fleet.directory.file("backup"))
        try fleet[0].execute("UPDATE note SET text = 'lost', rank = 1 WHERE id = '\(id)'")
        try await fleet.sync(0, 1)
        try fleet[0].restore(fleet.directory.file("backup"), .newFile)
        #expect(try fleet[0].rows() == ["\(id)=before"])
        try RawConnection.writeLater("UPDATE note SET rank = 2 WHERE id = '\(id)'", at: fleet[0].path)
        try await fleet.converge()
        let row = try fleet[1].replica.read { try Row.fetchOne($0, sql: "SELECT text, rank FROM note") }
        #expect(row?["text"] == "lost")
        #expect(row?["rank"] == 2)
    }

    @Test(
        "an overwrite by a writer that saw the old value is a conflict on no machine, although no mark ends its transaction"
    )
    func seenWithoutMark() async throws {
        let fleet = try Fleet(2)
        func program(_ sql: String) throws {
            try fleet[0].whileClosed { try RawConnection(path: fleet.path(0)).run(sql) }
        }
        // This program marks nothing: the end of what machine 1 gets is known because machine 1 got it.
        try program("INSERT INTO note VALUES ('a', 'first', 0); UPDATE note SET text = 'second' WHERE id = 'a'")
        try await fleet.sync(1, 0)
        try fleet[1].execute("UPDATE note SET text = 'third' WHERE id = 'a'")
        // The lost change comes back before the new write is sent.
        try program("INSERT INTO note VALUES ('b', 'unseen', 0)")
        let known = try fleet[0].vector
        let overwrite = try fleet[1].replica.read { try JournalReader($0).batch(after: known) }
        #expect(try fleet[0].inbox.receive(overwrite).applied == 1)
        try fleet[0].backUp(to: fleet.directory.file("backup"))
        try fleet[0].restore(fleet.directory.file("backup"), .newFile)
        #expect(fleet[0].inbox.lastRekey?.kept == 2)
        try await fleet.converge()
        try fleet.expectEverywhere(["a", "b"])
        for machine in fleet.machines { #expect(try machine.conflicts() == 0) }
    }

    @Test(
        "random writes, exchanges, backups, restores and copies lose nothing that a peer had",
        arguments: 0..<12 as Range<UInt64>)
    func random(seed: UInt64) async throws {
        var random = SplitMix(seed: seed)
        let fleet = try Fleet(3)
        var backups: [(machine: Int, path: String)] = []
        var acknowledged: Set<String> = []
        for step in 0..<40 {
            let index = random.below(fleet.machines.count)
            switch random.below(10) {
            case 0...3:
                try fleet.write(index)
                if let id = try fleet[index].ids().sorted().first {
                    try fleet[index].execute("UPDATE note SET rank = \(step) WHERE id = '\(id)'")
                }
            case 4...6:
                let other = random.below(fleet.machines.count)
                guard other != index else { continue }
                try await fleet.sync(index, other)
                try acknowledged.formUnion(fleet[index].ids())
                try acknowledged.formUnion(fleet[other].ids())
            case 7:
                let path = fleet.directory.file("backup \(step)")
                try fleet[index].backUp(to: path)
                backups.append((index, path))
            case 8:
                guard let backup = backups.filter({ $0.machine == index }).randomElement(using: &random) else {
                    continue
                }
                // One machine always stays that was met last: one restore at a time, and a full exchange
                // before the next.
                try await fleet.converge()
                try acknowledged.formUnion(fleet[index].ids())
                let way = random.pick(ReplicaFixture.Restore.allCases)
                try fleet[index].restore(
                    backup.path, way,
                    meanwhile: random.chance(30) ? "INSERT INTO note VALUES ('raw \(step)', '', 0)" : nil)
                // Nothing at the file shows the restore, so it must meet a machine that knows before one that
                // does not.
                if way == .inPlaceAlone { try await fleet.sync(index, (index + 1) % fleet.machines.count) }
            default:
                guard fleet.machines.count < 6 else { continue }
                let path = fleet.path(fleet.machines.count)
                try fleet[index].backUp(to: path)
                try fleet.add(path)
            }
        }
        try await fleet.converge()
        try fleet.expectEverywhere(acknowledged)
    }
}

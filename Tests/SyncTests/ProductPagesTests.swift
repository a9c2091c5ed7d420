import Foundation
import GRDB
import Journal
import Sync
import TestSupport
import Testing

@Suite("The pages of Journal and Sync", .timeLimit(.minutes(1)))
struct ProductPagesTests {
    let directory = TemporaryDirectory()

    private func file(_ name: String) throws -> String {
        let path = directory.file(name)
        try RawConnection(path: path).run(
            "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL); INSERT INTO person VALUES (1, 'Ann')")
        return path
    }

    @Test("these tests have and run every line of code in them")
    func examplesAreRun() throws {
        let tests = URL(fileURLWithPath: #filePath)
        let sources = tests.deletingLastPathComponent().appendingPathComponent("../../Sources")
        let pages = [
            "Journal/Journal.docc/Journal.md", "Journal/Journal.docc/Options.md", "Sync/Sync.docc/Sync.md",
            "Sync/Sync.docc/Options.md",
        ].map {
            sources.appendingPathComponent($0)
        }
        #expect(try ArticleExamples.linesNotRun(of: pages, in: [tests]) == [])
    }

    @Test("a file becomes a replica, and its entries are followed")
    func journal() async throws {
        let path = try file("a.sqlite")
        let (replica, report) = try Replica.create(at: path, InitializeRequest())  // existing rows become entries
        print(report.tracked.map(\.table))
        try replica.write { try $0.execute(sql: "UPDATE person SET name = 'Bob'") }
        #expect(report.tracked.map(\.table) == ["person"])
        let reader = try Replica.reading(path)
        let watch = try FileWatch(path: path)
        let signals = watch.changes  // from now on
        watch.signal()
        var position: Int64 = 0
        for await _ in signals {
            for entry in try reader.read({ try JournalReader($0).entries(after: position, limit: 1_000) }) {
                print(entry.shape.table, entry.operation, entry.columns.map(\.name), entry.stamp)
                position = entry.seq
            }
            if position > 0 { break }
        }
        #expect(position == 2)
        watch.stop()
        try reader.close()
        try replica.close()
    }

    @Test("a file becomes and is opened as a replica with other options")
    func journalOptions() throws {
        let path = try file("a.sqlite")
        try RawConnection(path: path).run("CREATE TABLE session (id INTEGER PRIMARY KEY)")
        let request = InitializeRequest(excluding: ["session"], cluster: "shop")
        let (replica, report) = try Replica.create(at: path, request)
        #expect(report.tracked.map(\.table) == ["person"])
        #expect(try replica.identity().cluster == "shop")
        try replica.close()
        var options = Replica.Options()
        options.durability = .normal
        let opened = try Replica.open(at: path, options: options)
        #expect(try opened.write { try Int.fetchOne($0, sql: "PRAGMA synchronous") } == 1)
        try opened.close()
    }

    @Test("a peer and a replicator have options")
    func syncOptions() throws {
        let path = try file("a.sqlite")
        let (replica, _) = try Replica.create(at: path, InitializeRequest())
        var peer = try PeerConfiguration("https://first:7707", tls: TLSFiles(authorities: path))
        peer.direction = .pull
        var limits = Limits.standard
        limits.longPollSeconds = 5
        let replicator = try Replicator(replica: replica, peers: [peer], limits: limits)
        withExtendedLifetime(replicator) {}
        try replica.close()
    }

    @Test("two replicas exchange once, and until the task is cancelled")
    func sync() async throws {
        let (path, other) = (try file("a.sqlite"), try file("b.sqlite"))
        let (replica, _) = try Replica.create(at: path, InitializeRequest())
        try Replica.create(at: other, InitializeRequest()).replica.close()
        try replica.write { try $0.execute(sql: "INSERT INTO person VALUES (2, 'Bob')") }
        let replicator = try Replicator(replica: replica, peers: [try PeerConfiguration(other)])
        let report = try await replicator.syncOnce(try PeerConfiguration(other))  // one exchange, now
        print(report.pulledChanges, report.pushedChanges, report.conflicts)
        #expect(report.pulledChanges == 1 && report.pushedChanges == 2)
        let exchange = Task { await replicator.run() }
        exchange.cancel()
        await exchange.value
        let names = try RawConnection(path: other).rows("SELECT name FROM person ORDER BY id")
        #expect(names == [[.text("Ann")], [.text("Bob")]])
        try replica.close()
    }
}

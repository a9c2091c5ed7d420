import Foundation
import GRDB
import Journal
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Sync

/// An endpoint on a replica with tables of every kind, and the five assertions for each request to it.
final class EndpointUnderAttack: Sendable {
    /// The longest time of a request in seconds.
    static let seconds = 60

    private static let schema = """
        CREATE TABLE person (id TEXT PRIMARY KEY NOT NULL, name TEXT, age INTEGER);
        CREATE TABLE item (id INTEGER PRIMARY KEY, n INTEGER NOT NULL CHECK (n < 1000), u TEXT UNIQUE) STRICT;
        CREATE TABLE child (id INTEGER PRIMARY KEY, item INTEGER REFERENCES item (id));
        CREATE TABLE word (k TEXT COLLATE NOCASE PRIMARY KEY NOT NULL, v);
        CREATE TABLE pair (a, b, c, PRIMARY KEY (a, b)) WITHOUT ROWID;
        CREATE TABLE twice (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER GENERATED ALWAYS AS (a * 2) STORED);
        CREATE TABLE audit (id INTEGER PRIMARY KEY, what TEXT);
        CREATE TABLE secret (id INTEGER PRIMARY KEY, s TEXT);
        CREATE TABLE loose (what TEXT);
        CREATE VIEW names AS SELECT name FROM person;
        CREATE VIRTUAL TABLE search USING fts5 (body);
        CREATE TRIGGER watch AFTER INSERT ON person WHEN new.name = 'fire'
          BEGIN INSERT INTO audit (what) VALUES ('fired'); END;
        INSERT INTO person VALUES ('p1', '\(HostileScene.canary)', 1), ('p2', 'two', 2);
        INSERT INTO item VALUES (1, 1, 'a');
        INSERT INTO secret VALUES (1, '\(HostileScene.canary)');
        INSERT INTO word VALUES ('Word', 1);
        """

    /// Small limits, so that an input at a limit is small too.
    static let limits = {
        var limits = Limits.standard
        limits.receivedChangesPerBatch = 4_096
        limits.valuesPerBatch = 1 << 16
        limits.rawBatchBytes = 8 << 20
        limits.columnBytesPerBatch = 1 << 20
        limits.knownEntriesPerBatch = 1 << 14
        limits.originsPerVector = 1_000
        limits.framePayloadBytes = 4 << 20
        limits.streamBodyBytes = 8 << 20
        limits.messageBytes = 1 << 20
        return limits
    }()

    private let directory = TemporaryDirectory()
    private let replica: Replica
    private let replicator: Replicator
    private let log: LogRecord

    init() throws {
        let path = directory.file("a.sqlite")
        let log = LogRecord()
        self.log = log
        var options = Replica.Options.unsynced
        options.logger = log.logger
        let request = InitializeRequest(excluding: ["secret"], origin: OriginID(high: 5, low: 5))
        replica = try Replica.make(at: path, schema: EndpointUnderAttack.schema, request, options: options)
        replicator = try Replicator(replica: replica, limits: EndpointUnderAttack.limits, logger: log.logger)
    }

    /// What an input knows of the replica.
    func scene() throws -> HostileScene {
        let (own, vector) = try replica.read { db in
            let reader = try JournalReader(db)
            return (reader.identity.origin, reader.vector())
        }
        return HostileScene(own: own, ownVersion: vector[own])
    }

    /// The same after the first contact, which records what was published.
    func settledScene() async throws -> HostileScene {
        try await expectGoodRequest("the first contact")
        return try scene()
    }

    /// Sends the input and makes the assertions.
    func expect(_ input: HostileInput) async throws {
        guard case .endpoint(let route, let make) = input.target else { return }
        let name = Comment(rawValue: input.testDescription)
        let body = try make(try scene())
        let before = try replica.read { try FileState($0) }
        let memory = Memory.resident()
        let start = ContinuousClock.now
        let error = await send(body, to: route)
        #expect(ContinuousClock.now - start < .seconds(EndpointUnderAttack.seconds), name)
        #expect(Memory.resident() - memory < Memory.cap, name)
        let changed = try replica.read { try FileState($0) }.changes(since: before)
        try check(input.outcome, error, changed, name)
        let said = error.map { "\($0.message) \($0.hint ?? "")" } ?? ""
        for text in [said] + log.take().map({ "\($0.message) \($0.metadata)" }) {
            #expect(!text.contains(HostileScene.canary) && !text.contains(HostileScene.token), name)
            #expect(!text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }, name)
            #expect(text.utf8.count < 4_096, name)
        }
        try await expectGoodRequest(name)
    }

    /// The answer to a request, and the tables that it changed.
    func outcome(of body: [UInt8], at route: HostileInput.Route) async throws -> (error: SyncError?, changed: [String])
    {
        let before = try replica.read { try FileState($0) }
        let error = await send(body, to: route)
        return (error, try replica.read { try FileState($0) }.changes(since: before))
    }

    private func check(
        _ outcome: HostileInput.Outcome, _ error: SyncError?, _ changed: [String], _ name: Comment
    ) throws {
        switch outcome {
        case .refused(let codes):
            #expect(
                error.map { codes.contains($0.code) } ?? false,
                "\(name): \(error.map { "\($0.code) \($0)" } ?? "taken")")
            #expect(changed.isEmpty, "\(name): \(changed)")
        case .served:
            #expect(error == nil, "\(name): \(error.map { "\($0)" } ?? "")")
            #expect(changed.isEmpty, "\(name): \(changed)")
        case .kept:
            #expect(error == nil, "\(name): \(error.map { "\($0)" } ?? "")")
            #expect(!changed.isEmpty && changed.allSatisfy { $0.hasPrefix("_journal") }, "\(name): \(changed)")
        case .applied(let sql):
            #expect(error == nil, "\(name): \(error.map { "\($0)" } ?? "")")
            #expect(!changed.contains("sqlite_master") && !changed.contains("secret"), "\(name): \(changed)")
            #expect(try replica.read { try Int.fetchOne($0, sql: sql) } == 1, "\(name): \(sql)")
        case .status, .explained:
            Issue.record("\(name): not an outcome of an endpoint")
        }
    }

    private func send(_ body: [UInt8], to route: HostileInput.Route) async -> SyncError? {
        let endpoint = replicator.endpoint
        do {
            switch route {
            case .hello: _ = try await endpoint.hello(body: body)
            case .pull:
                let request = try await endpoint.pullRequest(body: body)
                let sent = Mutex(0)
                try await endpoint.pull(request) { frame in sent.withLock { $0 += frame.count } }
                #expect(sent.withLock(\.self) <= 2 * EndpointUnderAttack.limits.bytesPerPull)
            case .digest: _ = try await endpoint.digest(body: body)
            case .push:
                var receiver = endpoint.beginPush()
                for start in stride(from: 0, to: body.count, by: 1 << 16) {
                    try await receiver.receive(body[start..<min(start + 1 << 16, body.count)])
                }
                _ = try await receiver.finish()
            }
            return nil
        } catch {
            return SyncError(wrapping: error)
        }
    }

    /// Sends a hello, a pull of everything, and an empty push. All must be served.
    private func expectGoodRequest(_ name: Comment) async throws {
        let scene = try scene()
        for (route, body) in [
            (HostileInput.Route.hello, try scene.hello()), (.pull, try scene.pull()),
            (.push, try scene.open() + scene.end()), (.digest, try scene.digest()),
        ] {
            let error = await send(body, to: route)
            #expect(error == nil, "\(name): the next good request fails: \(error.map { "\($0)" } ?? "")")
        }
    }

    /// Checks after a table of inputs that the file is sound and that a change still arrives.
    func expectSound() async throws {
        let problems = try replica.read { db in
            try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
        }
        #expect(problems.isEmpty)
        let scene = try scene()
        let error = await send(
            try scene.push(scene.batch(rows: [[.text("good"), .text("one"), .integer(1)]])), to: .push)
        #expect(error == nil)
        #expect(try replica.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM person WHERE id = 'good'") } == 1)
    }
}

extension HostileScene {
    fileprivate func batch(rows: [[Value]]) -> ChangeBatch { batch("person", ["id", "name", "age"], rows) }
}

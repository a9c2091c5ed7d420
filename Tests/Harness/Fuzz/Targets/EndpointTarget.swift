import Foundation
import GRDB
import Journal
import Sync

/// Requests to an endpoint on a real replica with tables of every kind.
///
/// The first byte chooses the request. For a push it also chooses whether the rest is a stream of frames or
/// the batch of one frame. After each input the endpoint must answer a good request, and its tables must be
/// sound.
final class EndpointTarget: @unchecked Sendable {
    // Unchecked: one thread runs all inputs, one after the other.
    static let shared = EndpointTarget()

    private static let schema = """
        CREATE TABLE person (id TEXT PRIMARY KEY NOT NULL, name TEXT, age INTEGER);
        CREATE TABLE place (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, size REAL CHECK (size >= 0)) STRICT;
        CREATE TABLE visit (
            person TEXT COLLATE NOCASE, place INTEGER REFERENCES place (id), note, PRIMARY KEY (person, place)
        ) WITHOUT ROWID;
        INSERT INTO person VALUES ('p1', 'one', 1), ('p2', 'two', 2);
        INSERT INTO place VALUES (1, 'here', 1.5);
        INSERT INTO visit VALUES ('P1', 1, x'00');
        """
    private static let caller = OriginID(high: 77, low: 77)
    /// The file grows by accepted changes, so it is made again after this many inputs.
    private static let inputsPerFile = 20_000

    private var inputs = 0
    private var directory: URL?
    private var replica: Replica?
    private var endpoint: Endpoint?

    func run(_ bytes: [UInt8]) {
        guard let choice = bytes.first else { return }
        if inputs.isMultiple(of: EndpointTarget.inputsPerFile) {
            do { try open() } catch { preconditionFailure("no replica: \(error)") }
        }
        inputs += 1
        guard let endpoint, let replica else { return }
        let rest = Array(bytes.dropFirst())
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await EndpointTarget.send(rest, choice: choice, to: endpoint)
            await EndpointTarget.expectGoodAnswer(endpoint)
            done.signal()
        }
        done.wait()
        if inputs.isMultiple(of: 500) { EndpointTarget.check(replica) }
    }

    private static func send(_ bytes: [UInt8], choice: UInt8, to endpoint: Endpoint) async {
        do {
            switch choice % 6 {
            case 0: _ = try await endpoint.hello(body: bytes)
            case 1:
                var request = try await endpoint.pullRequest(body: bytes)
                request.waitSeconds = 0
                try await endpoint.pull(request) { (_: [UInt8]) in }
            case 2: _ = try await endpoint.digest(body: bytes)
            case 3: try await push(bytes, endpoint)
            case 4:
                if let frame = FrameTarget.framed(bytes) { try await push(try opening() + frame + ending(), endpoint) }
            default:
                let batch = try BatchCodec.decode(bytes, limits: BatchTarget.limits)
                try await push(try opening() + Frame(batch, encoding: .none).encoded() + ending(), endpoint)
            }
        } catch {
            // Most inputs end here: they are refused.
        }
    }

    private static func push(_ bytes: [UInt8], _ endpoint: Endpoint) async throws {
        var receiver = endpoint.beginPush()
        try await receiver.receive(bytes)
        _ = try await receiver.finish()
    }

    private static func opening() throws -> [UInt8] {
        try Frame(body: .open(cluster: "main", origin: caller)).encoded()
    }

    private static func ending() throws -> [UInt8] {
        try Frame(body: .end(vector: VersionVector(), more: false)).encoded()
    }

    private static func expectGoodAnswer(_ endpoint: Endpoint) async {
        let request = PullRequest(cluster: "main", origin: caller, have: VersionVector(), maxBytes: 1)
        do {
            try await endpoint.pull(request) { (_: [UInt8]) in }
        } catch {
            preconditionFailure("a good request fails afterwards: \(error)")
        }
    }

    private static func check(_ replica: Replica) {
        let problems = try? replica.read { db in
            try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
        }
        precondition(problems?.isEmpty == true, "the file is damaged: \(problems ?? [])")
    }

    private func open() throws {
        if let directory {
            endpoint = nil
            try replica?.close()
            try FileManager.default.removeItem(at: directory)
        }
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("tandem-fuzz-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        self.directory = directory
        let path = directory.appendingPathComponent("a.sqlite").path
        let queue = try DatabaseQueue(path: path)
        try queue.write { try $0.execute(sql: EndpointTarget.schema) }
        try queue.close()
        var options = Replica.Options()
        options.durability = .normal
        let replica = try Replica.create(
            at: path, InitializeRequest(origin: OriginID(high: 1, low: 1)), options: options
        ).replica
        let inbox = try Inbox(replica: replica, limits: BatchTarget.limits) {
            Stamp(milliseconds: 4_000_000_000_000)
        }
        self.replica = replica
        endpoint = Endpoint(replica: replica, inbox: inbox, limits: BatchTarget.limits) {
            AsyncStream { $0.finish() }
        }
    }
}

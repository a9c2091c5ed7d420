import Foundation
import GRDB
import Journal
import Synchronization
import TestSupport
import Testing

@testable import Sync

/// Every change that one replica sent to another, by (origin, version). One name may not stand for two
/// contents.
final class PublishedChanges: Sendable {
    private struct State {
        var contents: [String: String] = [:]
        var violations: [String] = []
    }

    private let state = Mutex(State())

    var violations: [String] { state.withLock { $0.violations } }
    var count: Int { state.withLock { $0.contents.count } }

    func note(_ frame: Frame) throws {
        guard case .batch = frame.body else { return }
        let batch = try frame.batch(limits: .standard)
        state.withLock { state in
            for run in batch.runs {
                for (offset, index) in run.changes.enumerated() {
                    let change = batch.changes[index]
                    let name = "\(run.origin) \(run.firstVersion + Int64(offset))"
                    let content =
                        "\(batch.shapes[change.shape]) \(change.operation) \(change.life) \(change.stamp) "
                        + "\(change.mask) \(batch.values[change.values])"
                    if let known = state.contents[name], known != content {
                        state.violations.append("\(name): \(known) and \(content)")
                    }
                    state.contents[name] = content
                }
            }
        }
    }
}

/// A transport that records its frames.
struct WatchedTransport: Transport {
    let base: LocalTransport
    let publications: PublishedChanges

    var name: String { base.name }

    func hello(_ hello: Hello) async throws -> Hello {
        // The message passes through the codec, as over a wire.
        let sent = try Hello(decoding: hello.encoded(), limits: .standard)
        return try await Hello(decoding: base.hello(sent).encoded(), limits: .standard)
    }

    func pull(_ request: PullRequest, onFrame: @Sendable (Frame) async throws -> Void) async throws -> PullEnd {
        try await base.pull(request) { frame in
            try publications.note(frame)
            try await onFrame(frame)
        }
    }

    func push(_ frames: [Frame]) async throws -> PushReply {
        for frame in frames { try publications.note(frame) }
        return try await base.push(frames)
    }

    func digest(_ request: DigestRequest) async throws -> DigestReply { try await base.digest(request) }
}

extension ReplicaFixture {
    func rows() throws -> [String] {
        try replica.read { try String.fetchAll($0, sql: "SELECT id || '=' || text FROM note ORDER BY id") }
    }

    func ids() throws -> Set<String> {
        try replica.read { try Set(String.fetchAll($0, sql: "SELECT id FROM note")) }
    }

    func conflicts() throws -> Int {
        try replica.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM _journal_conflicts") ?? 0 }
    }

    // MARK: - Backups and restores

    enum Restore: CaseIterable, Sendable {
        /// The file is deleted and the backup copied to its name.
        case newFile
        /// The backup's bytes are written into the existing file.
        case inPlace
        /// The same, without the record beside the file.
        case inPlaceAlone
    }

    func backUp(to copy: String) throws {
        try whileClosed {
            try? FileManager.default.removeItem(atPath: copy)
            try FileManager.default.copyItem(atPath: path, toPath: copy)
        }
    }

    /// - Parameter meanwhile: SQL that another program runs before the daemon starts.
    func restore(_ copy: String, _ way: Restore, meanwhile: String? = nil) throws {
        try whileClosed {
            switch way {
            case .newFile:
                try FileManager.default.removeItem(atPath: path)
                try FileManager.default.copyItem(atPath: copy, toPath: path)
            case .inPlace, .inPlaceAlone:
                let file = try #require(FileHandle(forWritingAtPath: path))
                try file.truncate(atOffset: 0)
                try file.write(contentsOf: try #require(FileManager.default.contents(atPath: copy)))
                try file.close()
                if way == .inPlaceAlone { try? FileManager.default.removeItem(atPath: path + "-identity") }
            }
            if let meanwhile { try RawConnection(path: path).run(meanwhile) }
        }
    }
}

/// Machines that exchange on demand, with a check of everything that they publish.
final class Fleet {
    static let schema = "CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, text TEXT, rank INTEGER)"

    let directory = TemporaryDirectory()
    let publications = PublishedChanges()
    let limits: Limits
    private(set) var machines: [ReplicaFixture] = []
    private var written = 0

    init(_ count: Int, limits: Limits = .standard) throws {
        var limits = limits
        // Tests restore files more often than the daily limit of new identities allows.
        limits.rekeysPerDay = max(limits.rekeysPerDay, 1_000)
        self.limits = limits
        for index in 0..<count { try add(path(index), schema: Fleet.schema) }
    }

    func path(_ index: Int) -> String { directory.file("\(index).sqlite") }

    subscript(index: Int) -> ReplicaFixture { machines[index] }

    private var settings: ReplicaFixture.Settings {
        ReplicaFixture.Settings(limits: limits) { Stamp(milliseconds: SystemClock().wallMilliseconds()) }
    }

    /// Starts a machine.
    ///
    /// - Parameter schema: The tables of a new file; nil for a file that is there already.
    @discardableResult
    func add(_ path: String, schema: String? = nil) throws -> ReplicaFixture {
        let machine =
            if let schema {
                try ReplicaFixture(path, schema: schema, settings)
            } else {
                try ReplicaFixture(.open(at: path, options: settings.options), settings)
            }
        machines.append(machine)
        return machine
    }

    /// Writes a new note on one machine, and returns its id.
    @discardableResult
    func write(_ index: Int) throws -> String {
        written += 1
        let id = "n\(written)"
        try machines[index].execute("INSERT INTO note VALUES ('\(id)', 'from \(index)', 0)")
        return id
    }

    @discardableResult
    func sync(_ a: Int, _ b: Int) async throws -> SyncReport {
        let transport = WatchedTransport(
            base: LocalTransport(machines[b].endpoint, name: machines[b].path), publications: publications)
        return try await machines[a].exchange(over: transport)
    }

    /// Exchanges between all machines until all know the same, and checks that they then hold the same.
    func converge(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for _ in 0..<(machines.count + 3) {
            for a in machines.indices { for b in machines.indices where a != b { try await sync(a, b) } }
            let vectors = try machines.map { try $0.vector }
            if vectors.allSatisfy({ $0 == vectors[0] }) { break }
        }
        for machine in machines {
            #expect(try machine.vector == machines[0].vector, sourceLocation: sourceLocation)
            #expect(try machine.rows() == machines[0].rows(), sourceLocation: sourceLocation)
            let problems = try machine.replica.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
            #expect(problems == ["ok"], sourceLocation: sourceLocation)
        }
        #expect(publications.violations.isEmpty, sourceLocation: sourceLocation)
    }

    func expectEverywhere(_ ids: some Sequence<String>, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for machine in machines {
            #expect(try machine.ids().isSuperset(of: Set(ids)), sourceLocation: sourceLocation)
        }
    }
}

import BenchSupport
import Foundation
import GRDB
import Journal
import Sync

/// A clone against `VACUUM INTO` and `cp` of the same file, which is the least that a copy elsewhere costs.
struct Copies {
    let directory: String
    let isQuick: Bool

    func run() throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let count = isQuick ? 100_000 : 1_000_000
        let path = "\(directory)/source.sqlite"
        try PlainDatabase(path: path).execute(
            """
            CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, a INTEGER, b INTEGER, c REAL, d TEXT, e TEXT, f TEXT, g INTEGER,
              h INTEGER, i TEXT);
            WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO t SELECT 'k' || i, i, random(), i / 3.0, 'd' || (i % 5000), 'text ' || i, hex(randomblob(4)), i % 10,
              i % 100, 'last ' || (i % 77) FROM n
            """)
        let replica = try Replica.create(at: path, InitializeRequest(origin: .random())).replica
        let inbox = try Inbox(replica: replica) { Stamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) }
        // As behind a running daemon.
        repeat { try replica.refreshDerivedState() } while try replica.hasLongTail()
        let plain = try measure {
            let vacuumed = "\(directory)/vacuumed.sqlite"
            try replica.connections.writeWithoutTransaction {
                try $0.execute(sql: "VACUUM INTO ?", arguments: [vacuumed])
            }
            try FileManager.default.copyItem(atPath: vacuumed, toPath: "\(directory)/copied.sqlite")
        }
        let before = Memory.resetPeak()
        let endpoint = Endpoint(replica: replica, inbox: inbox) { AsyncStream { $0.finish() } }
        let clone = Clone(from: CompressedSource(endpoint: endpoint), to: "\(directory)/clone.sqlite")
        let ours = try measure { try Copies.wait { _ = try await clone.run() } }
        let bytes = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        print(
            "\nClone of \(count) rows of 10 columns (\(bytes / 1_000_000) MB with the journal), both sides in one process, "
                + "against VACUUM INTO and cp (goal 2): "
                + String(format: "wall %.2f, CPU %.2f; %.1f s", ours.wall / plain.wall, ours.cpu / plain.cpu, ours.wall)
                + "; peak memory \(Memory.peak() / 1_048_576) MiB (\(before / 1_048_576) MiB before)")
        try inbox.close()
        try replica.close()
    }

    private static func wait(_ body: @escaping @Sendable () async throws -> Void) throws {
        let done = DispatchSemaphore(value: 0)
        let outcome = Outcome()
        Task {
            do { try await body() } catch { outcome.set(error) }
            done.signal()
        }
        done.wait()
        if let error = outcome.error { throw error }
    }

    /// Unchecked: written before the semaphore is signalled, and read after that.
    private final class Outcome: @unchecked Sendable {
        private(set) var error: (any Error)?
        func set(_ error: any Error) { self.error = error }
    }
}

/// A peer in this process whose parts are compressed and decompressed, as over a wire.
private struct CompressedSource: SnapshotSource {
    let endpoint: Endpoint
    var name: String { "source" }

    func snapshot() async throws -> SnapshotAnswer {
        try SnapshotAnswer(jsonBody: try await endpoint.snapshot().jsonBody())
    }

    func part(_ index: Int, of id: String, size: Int) async throws -> [UInt8] {
        let body = try await endpoint.part(index, of: id, encoding: .zstd)
        return try PayloadEncoding.zstd.decompress(body, limit: size, limits: .standard)
    }
}

import Foundation
import Journal
import Testing

@testable import Sync

/// `syncd` as a client and as a command, and the five assertions for each run.
struct ProgramUnderAttack {
    /// The longest time of a run in seconds.
    static let seconds = 60
    /// The address space of a run in kilobytes, with the reserved stack of each thread. A program that was
    /// built for a sanitizer reserves terabytes.
    static let kilobytes =
        ProcessInfo.processInfo.environment["TANDEM_SANITIZED"] == nil ? String(4 << 20) : "unlimited"

    /// Runs the input and makes the assertions.
    func expect(_ input: HostileInput) async throws {
        guard case .explained(let sentence) = input.outcome else { return }
        let name = Comment(rawValue: input.testDescription)
        let workspace = Workspace()
        let scene = HostileScene(own: .random(), ownVersion: 0)
        let arguments: [String]
        var server: HostileServer?
        switch input.target {
        case .client(let answer):
            let path = try await workspace.makeReplica()
            try workspace.execute(path, "UPDATE person SET name = '\(HostileScene.canary)'")
            let behaviours = try [WireHTTP.helloPath, WireHTTP.pullPath, WireHTTP.pushPath, WireHTTP.digestPath].map {
                ($0, try answer(scene, $0))
            }
            let hostile = try HostileServer { path in
                behaviours.first { $0.0 == path }?.1 ?? .init([])
            }
            server = hostile
            arguments = [
                "sync", path, hostile.url, "--token-file", try workspace.write(HostileScene.token, to: "token"),
            ]
            // The first contact takes up what was written without the library.
            try await settle(path)
        case .command(let prepare): arguments = try await prepare(workspace)
        case .endpoint, .daemon: return
        }
        let before = try state(workspace)
        let start = ContinuousClock.now
        let outcome = try await Tool.run(
            [
                "/bin/sh", "-c", "ulimit -v \(ProgramUnderAttack.kilobytes); exec \"$0\" \"$@\"", Tool.path,
            ] + arguments)
        #expect(ContinuousClock.now - start < .seconds(ProgramUnderAttack.seconds), name)
        #expect(outcome.status == 1, "\(name): \(outcome)")
        #expect(
            outcome.errors.hasPrefix("Error: ") && (sentence.isEmpty || outcome.errors.contains(sentence)),
            "\(name): \(outcome)")
        #expect(outcome.errors.split(separator: "\n").count <= 2, "\(name): \(outcome)")
        for text in [outcome.output, outcome.errors] {
            #expect(!text.contains(HostileScene.token) && !text.contains(HostileScene.canary), "\(name): \(text)")
            #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0.value != 10 }, "\(name): \(text)")
        }
        let changes = try state(workspace).changes(since: before)
        #expect(changes.isEmpty, "\(name): \(changes)")
        if let server { #expect(server.requests > 0, name) }
    }

    /// Brings the journal up to date with the writes of a plain program.
    private func settle(_ path: String) async throws {
        let server = try HostileServer { _ in .answer("500 Internal Server Error", type: "text/plain", []) }
        let outcome = try await Tool.run("sync", path, server.url)
        #expect(outcome.status == 1)
    }

    private func state(_ workspace: Workspace) throws -> WorkspaceState { try WorkspaceState(workspace) }
}

/// The tables of every database and the bytes of all other files in a workspace. The lock file is ignored: it
/// stays.
private struct WorkspaceState {
    private var tables: [String: FileState] = [:]
    private var bytes: [String: Data] = [:]

    init(_ workspace: Workspace) throws {
        for (name, content) in try workspace.snapshot()
        where !["-wal", "-shm", "-syncd", "-peers", "-acks", "-archives", "-ends"].contains(where: name.hasSuffix) {
            // A link to nothing must not be opened: SQLite would create the file.
            if name.hasSuffix(".sqlite"), let state = try? FileState(workspace.path(name)) {
                tables[name] = state
            } else {
                bytes[name] = content
            }
        }
    }

    /// The differences, without the note on the failed peer, which `syncd status` shows.
    func changes(since other: WorkspaceState) -> [String] {
        let files = Set(bytes.keys).union(other.bytes.keys).filter { bytes[$0] != other.bytes[$0] }
        let changed = tables.flatMap { name, state in
            (other.tables[name].map { state.changes(since: $0) } ?? ["all"]).map { "\(name): \($0)" }
        }
        return (files + changed).filter { !$0.hasSuffix(": _journal_peers") }.sorted()
    }
}

import Foundation
import Journal
import Synchronization
import TestSupport
import Testing

@testable import Sync
@testable import SyncdCore

@Suite("Long work shows its progress, on a terminal only")
struct ProgressTests {
    let workspace = Workspace()

    @Test("the line has title, detail and time, and the title is shortened when it is too long")
    func text() {
        #expect(
            ProgressLine.text("Exchanging with http://b:7707", "3 changes received", seconds: 12)
                == "Exchanging with http://b:7707: 3 changes received, 12 s")
        let long = ProgressLine.text(
            "Exchanging with " + String(repeating: "x", count: 200), "3 changes received", seconds: 600)
        #expect(long.count == ProgressLine.width && long.hasPrefix("Exchanging with x"))
        #expect(long.hasSuffix("x…: 3 changes received, 10 min"))
        let detail = ProgressLine.text("Comparing", String(repeating: "y", count: 200), seconds: 1)
        #expect(detail.count == ProgressLine.width)
        #expect(!ProgressLine.text("a\nb", "c\rd", seconds: 1).contains { $0.isNewline })
    }

    @Test("incoming changes of an exchange are counted once, and own changes are not")
    func arrivals() async throws {
        let a = try await workspace.makeReplica("a.sqlite", rows: 2)
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        let replica = try Replica.open(at: b)
        let arrivals = try Arrivals(replica)
        #expect(await arrivals.text() == "0 changes received")
        try workspace.execute(b, "INSERT INTO person VALUES ('own', 'x', 1)")
        #expect(try await Tool.run("sync", b, a).status == 0)
        #expect(await arrivals.text() == "2 changes received")
        #expect(await arrivals.text() == "2 changes received")
        try replica.close()
    }

    @Test("a comparison reports to its observer each table and the number of rows")
    func comparison() async throws {
        let a = try await workspace.makeReplica("a.sqlite", rows: 3)
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        #expect(try await Tool.run("sync", a, b).status == 0)
        let replica = try Replica.open(at: a)
        let replicator = try Replicator(replica: replica)
        let peer = try PeerConfiguration(b)
        let heard = Heard()
        let report = try await replicator.verify(peer) { heard.hear($0) }
        #expect(report.isEqual)
        let all = heard.all
        #expect(all.count >= 2 && all.allSatisfy { $0.table == "person" && $0.number == 1 && $0.tables == 1 })
        #expect(all.first?.rows == 0 && all.last?.rows == 3)
        try replicator.inbox.close()
        try replica.close()
    }

    /// Runs a command with its standard error on a terminal, and prints what it wrote there.
    private static let terminal = """
        import os, pty, subprocess, sys
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:
                break
            if not piece:
                break
            sys.stdout.buffer.write(piece)
        sys.exit(process.wait())
        """

    private func onTerminal(_ arguments: String...) async throws -> Outcome {
        try await Tool.run(["/usr/bin/env", "python3", "-c", ProgressTests.terminal, Tool.path] + arguments)
    }

    @Test("init, sync and verify show the line on a terminal while they wait, and remove it before other output")
    func terminal() async throws {
        let plain = try workspace.makeDatabase("plain.sqlite")
        let (a, b) = (try await workspace.makeReplica("a.sqlite"), try await workspace.makeReplica("b.sqlite"))
        let peer = try await workspace.makeReplica("peer.sqlite")
        // The peer gets something to write at a contact with the file.
        try workspace.execute(peer, "INSERT INTO person VALUES ('new', 'x', 1)")
        // Each command waits ten seconds for the lock, and then fails.
        let holders = try [plain, peer].map { try RawConnection(path: $0) }
        for holder in holders { try holder.run("BEGIN IMMEDIATE") }
        async let initialized = onTerminal("init", plain, "--accept")
        async let synced = onTerminal("sync", a, peer)
        async let verified = onTerminal("verify", b, peer)
        let outcomes = try await [initialized, synced, verified]
        for holder in holders { try holder.run("ROLLBACK") }
        for (outcome, words) in zip(
            outcomes,
            [("Making ", "bytes written"), ("Exchanging ", "changes received"), ("Comparing ", "asking")])
        {
            #expect(outcome.status == 1, "\(outcome)")
            #expect(outcome.output.contains("\r\u{1B}[K\(words.0)"), "\(outcome)")
            #expect(outcome.output.contains(words.1), "\(outcome)")
            #expect(outcome.output.contains("\r\u{1B}[K\rError: "), "\(outcome)")
        }
    }
}

/// Everything that an observer of a comparison was told.
private final class Heard: Sendable {
    private let progress = Mutex<[VerifyProgress]>([])

    func hear(_ news: VerifyProgress) { progress.withLock { $0.append(news) } }
    var all: [VerifyProgress] { progress.withLock { $0 } }
}

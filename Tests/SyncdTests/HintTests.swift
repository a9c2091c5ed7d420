import Foundation
import Journal
import Testing

@testable import Sync
@testable import SyncdCore

@Suite("No error is printed without a hint")
struct HintTests {
    let workspace = Workspace()

    @Test("an error without a hint gets the hint of its code; an error with a hint keeps it")
    func codes() throws {
        let peer = try PeerConfiguration("http://a:1")
        for code in SyncError.Code.all {
            let error = SyncError(code, "It failed")
            #expect(Failure(describing: error)?.hint.isEmpty == false, "\(code)")
            #expect(error.failure(with: peer).message == "http://a:1: It failed")
            #expect(!error.failure(with: peer).hint.isEmpty, "\(code)")
        }
        for code in JournalError.Code.all {
            #expect(Failure(describing: JournalError(code, "It failed"))?.hint.isEmpty == false, "\(code)")
        }
        #expect(SyncError(.fork, "It failed").failure(with: peer).hint.contains("syncd rekey"))
        #expect(SyncError(.unreachable, "It failed").failure(with: peer).hint.contains("is that daemon running"))
        #expect(SyncError(.fork, "It failed", hint: "Do this").failure(with: peer).hint == "Do this")
        #expect(Failure(describing: JournalError(.corrupt, "it failed"))?.hint.contains("integrity_check") == true)
        #expect(Failure(describing: JournalError(.corrupt, "it failed", hint: "Do this"))?.hint == "Do this")
        #expect(Failure(describing: POSIXError(.ENOSPC))?.hint.isEmpty == false)
        #expect(Failure(describing: CocoaError(.fileNoSuchFile))?.hint.isEmpty == false)
    }

    @Test(
        "the reason why a daemon cannot listen comes with what to do",
        arguments: [
            (EADDRINUSE, "Another program uses the port"), (EADDRNOTAVAIL, "This machine has no such address"),
            (EACCES, "Ports below 1024"), (EAFNOSUPPORT, "addresses of that kind"), (EINVAL, "another address"),
        ])
    func listening(code: Int32, hint: String) {
        let failure = Failure(listeningOn: .standard, errno: code)
        #expect(failure.message.hasPrefix("Listening on 127.0.0.1:7707 failed: "), "\(failure)")
        #expect(failure.hint.contains(hint), "\(failure)")
    }

    @Test("a table that is dropped while replicas are compared is reported with what to do")
    func missingTable() async throws {
        let replica = try Replica.open(at: try await workspace.makeReplica())
        let shape = TableShape(table: "gone", columns: ["id"], keyCount: 1)
        let error = #expect(throws: SyncError.self) {
            try replica.read { db in
                _ = try TableDigests(db, limits: .standard).answer(.rows(shape: shape, after: nil, through: nil))
            }
        }
        #expect(error?.code == .notFound)
        #expect(error?.message.contains("gone") == true && error?.hint?.contains("syncd init") == true)
        try replica.close()
    }
}

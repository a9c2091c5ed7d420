import Foundation
import TestSupport
import Testing

@testable import SyncdCore

@Suite("How far a peer is behind")
struct PeerLagTests {
    private let workspace = Workspace()

    private func peer(_ path: String) async throws -> [String: Any] {
        let status = try await Tool.run("status", path, "--json")
        let object = try JSONSerialization.jsonObject(with: Data(status.output.utf8)) as? [String: Any]
        return try #require((object?["peers"] as? [[String: Any]])?.first)
    }

    @Test("is told in changes, and by the time of the oldest one that it lacks")
    func oldest() async throws {
        let a = try await workspace.makeReplica("a.sqlite")
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        #expect(try await Tool.run("sync", a, b).status == 0)
        let level = try await peer(a)
        #expect(level["lag"] as? Int == 0 && level["lag_ms"] as? Int == 0)

        try workspace.execute(a, "INSERT INTO person (id, name) VALUES ('new', 'x'), ('newer', 'y')")
        let behind = try await peer(a)
        #expect(behind["lag"] as? Int == 2)
        #expect(try #require(behind["lag_ms"] as? Int) < 3_600_000)
        #expect(try await Tool.run("status", a).output.contains("2 changes behind"))

        // As if the first of them had been written a day ago.
        try workspace.execute(
            a, "UPDATE _journal SET stamp = stamp - 1 WHERE seq = (SELECT max(seq) - 1 FROM _journal)")
        #expect(try #require(await peer(a)["lag_ms"] as? Int) >= 86_400_000)
        #expect(try await Tool.run("status", a).output.contains("2 changes behind, for 24 h"))

        #expect(try await Tool.run("sync", a, b).status == 0)
        #expect(try await peer(a)["lag_ms"] as? Int == 0)
    }

    @Test("what is younger than 10 s is told without its age")
    func text() {
        #expect(PeerLag.text(changes: 1, milliseconds: 9_999) == "1 change behind")
        #expect(PeerLag.text(changes: 1, milliseconds: nil) == "1 change behind")
        #expect(PeerLag.text(changes: 12, milliseconds: 180_000) == "12 changes behind, for 3 min")
    }
}

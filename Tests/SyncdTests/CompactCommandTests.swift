import Foundation
import TestSupport
import Testing

@Suite("syncd compact and forget")
struct CompactCommandTests {
    let workspace = Workspace()

    /// Two replicas that know the same, one of whose rows was written many times.
    private func pair() async throws -> (a: String, b: String) {
        let a = try await workspace.makeReplica("a.sqlite", rows: 3)
        let b = workspace.path("b.sqlite")
        #expect(try await Tool.run("clone", a, b).status == 0)
        for age in 0..<50 { try workspace.execute(a, "UPDATE person SET age = \(age) WHERE id = 'p1'") }
        #expect(try await Tool.run("sync", a, b).status == 0)
        return (a, b)
    }

    private func object(_ outcome: Outcome) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any], "\(outcome)")
    }

    @Test("what both have and nothing needs goes, after --keep; the rows stay equal, and both go on")
    func compact() async throws {
        let (a, b) = try await pair()
        let young = try object(try await Tool.run("compact", a, "--json"))
        #expect(young["removed"] as? Int == 0 && young["entries"] as? Int == 53)
        let before = try workspace.snapshot()["a.sqlite"]
        let dry = try await Tool.run("compact", a, "--keep", "0s", "--dry-run")
        #expect(dry.output.contains("of 53 entries of the journal would go"), "\(dry)")
        #expect(try workspace.snapshot()["a.sqlite"] == before)
        let done = try object(try await Tool.run("compact", a, "--keep", "0s", "--vacuum", "--json"))
        let removed = try #require(done["removed"] as? Int)
        #expect(removed >= 45 && done["alone"] as? Bool == false, "\(done)")
        #expect(try workspace.value(a, "SELECT count(*) FROM _journal", as: Int.self) == 53 - removed)
        let status = try object(try await Tool.run("status", a, "--json"))
        #expect(status["journal_rows"] as? Int == 53 - removed && status["journal_removed"] as? Int == removed)
        #expect(status["horizon"] is String)
        try workspace.execute(b, "UPDATE person SET name = 'new' WHERE id = 'p1'; DELETE FROM person WHERE id = 'p2'")
        #expect(try await Tool.run("sync", b, a).status == 0)
        #expect(try await Tool.run("verify", a, b).status == 0)
        #expect(try workspace.value(a, "SELECT name || age FROM person WHERE id = 'p1'", as: String.self) == "new49")
    }

    @Test("a new replica without a clone is refused with a hint, and a clone goes on")
    func newcomer() async throws {
        let (a, _) = try await pair()
        #expect(try await Tool.run("compact", a, "--keep", "0s").status == 0)
        let empty = try await workspace.makeReplica("n.sqlite", rows: 0)
        let refused = try await Tool.run("sync", empty, a)
        #expect(refused.status == 1 && refused.errors.contains("compacted"), "\(refused)")
        #expect(refused.errors.contains("\nHint: ") && refused.errors.contains("syncd clone"), "\(refused)")
        let clone = workspace.path("c.sqlite")
        #expect(try await Tool.run("clone", a, clone).status == 0)
        try workspace.execute(clone, "UPDATE person SET age = 1000")
        #expect(try await Tool.run("sync", clone, a).status == 0)
        #expect(try await Tool.run("verify", clone, a).status == 0)
    }

    @Test("a replica that was seen lately is forgotten by force only; then nothing waits for it")
    func forget() async throws {
        let (a, b) = try await pair()
        try workspace.execute(a, "UPDATE person SET age = 99")
        let origin = try #require(try object(try await Tool.run("status", b, "--json"))["origin"] as? String)
        let waiting = try await Tool.run("compact", a, "--keep", "0s", "-n")
        #expect(waiting.output.contains("Waits for \(origin)"), "\(waiting)")
        let refused = try await Tool.run("forget", a, String(origin.prefix(6)))
        #expect(refused.status == 1 && refused.errors.contains("was seen") && refused.errors.contains("--force"))
        #expect(try await Tool.run("forget", a, "abcdef0123").status == 1)
        #expect(try await Tool.run("forget", a, "xyz").status == 64)
        #expect(try await Tool.run("forget", a, origin, "--force").status == 0)
        let free = try object(try await Tool.run("compact", a, "--keep", "0s", "--json"))
        #expect(free["alone"] as? Bool == true && (free["removed"] as? Int ?? 0) > 45, "\(free)")
    }

    @Test("lengths of time are numbers with a unit")
    func spans() async throws {
        let a = try await workspace.makeReplica("a.sqlite", rows: 1)
        for bad in ["7", "d", "-1d", "1w", "1.5h", "99999999999d", ""] {
            let outcome = try await Tool.run("compact", a, "--keep", bad)
            #expect(outcome.status == 64, "\(bad): \(outcome)")
        }
        #expect(try await Tool.run("compact", a, "--keep", "0s", "--lease", "90m", "--dry-run").status == 0)
    }
}

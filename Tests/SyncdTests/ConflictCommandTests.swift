import Foundation
import Journal
import TestSupport
import Testing

@testable import Sync
@testable import SyncdCore

@Suite("The commands conflicts, held and clock")
struct ConflictCommandTests {
    let workspace = Workspace()

    private func objects(_ outcome: Outcome) throws -> [[String: Any]] {
        try outcome.lines.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    /// Two replicas that changed the same row differently, the second one later, and then exchanged.
    private func met(_ a: String, _ b: String) async throws -> (a: String, b: String) {
        let first = try await workspace.makeReplica("a.sqlite", rows: 3)
        let second = try await workspace.makeReplica("b.sqlite", rows: 0)
        #expect(try await Tool.run("sync", first, second).status == 0)
        try workspace.execute(first, a)
        try RawConnection.writeLater(b, at: second)
        #expect(try await Tool.run("sync", first, second).status == 0)
        return (first, second)
    }

    @Test("conflicts --json has the fields of the contract, and the text shows both versions")
    func list() async throws {
        let (a, _) = try await met(
            "UPDATE person SET name = 'mine' WHERE id = 'p1'", "UPDATE person SET name = 'yours' WHERE id = 'p1'")
        let line = try #require(try objects(try await Tool.run("conflicts", a, "--json")).first)
        #expect(line["id"] as? Int == 1)
        #expect(line["table"] as? String == "person" && line["kind"] as? String == "update/update")
        #expect(line["key"] as? [String: String] == ["id": "p1"])
        #expect(line["lost"] as? [String: String] == ["name": "mine"])
        #expect(line["kept"] as? [String: String] == ["name": "yours"])
        #expect(line["state"] as? String == "open" && line["closed_time"] is NSNull)
        for name in ["lost_origin", "kept_origin"] { #expect((line[name] as? String)?.count == 32) }
        for name in ["time", "lost_time", "kept_time"] { #expect((line[name] as? String)?.hasSuffix("Z") == true) }
        let text = try await Tool.run("conflicts", a)
        let values = try #require(text.lines.first { $0.contains("'mine'") })
        #expect(values.contains("'yours'") && values.contains("name"))
        #expect(text.lines.last == "1 conflict.")
    }

    @Test("conflicts filters, and a filter that makes no sense is a usage error")
    func filters() async throws {
        let (a, b) = try await met(
            "UPDATE person SET name = 'mine' WHERE id = 'p1'; UPDATE person SET id = 'q2' WHERE id = 'p2'",
            "UPDATE person SET name = 'yours' WHERE id IN ('p1', 'p2')")
        func count(_ arguments: String...) async throws -> Int {
            try await Tool.run([Tool.path, "conflicts", b, "--json"] + arguments).lines.count
        }
        #expect(try await count() == 2)
        #expect(try await count("--key", "p1") == 1)
        #expect(try await count("--table", "PERSON") == 2)
        #expect(try await count("--kind", "key-change") == 1)
        #expect(try await count("--kind", "key change", "--key", "[\"p2\"]") == 1)
        #expect(try await count("--since", "2020-01-01") == 2)
        #expect(try await count("--since", "2999-01-01T00:00:00Z") == 0)
        #expect(try await count("--state", "all") == 2)
        #expect(try await count("--state", "dismissed") == 0)
        let origin = try #require(try objects(try await Tool.run("status", a, "--json")).first?["origin"] as? String)
        #expect(try await count("--origin", String(origin.prefix(8))) == 2)
        #expect(try await count("--origin", "00000000") == 0)
        for wrong in [
            ["--kind", "x"], ["--since", "yesterday"], ["--state", "x"], ["--origin", "x"], ["undo", "1"], ["restore"],
            ["restore", "x"], ["restore", "0"], ["dismiss", "1", "--all"], ["restore", "--all"], ["--all"],
        ] {
            #expect(try await Tool.run([Tool.path, "conflicts", b] + wrong).status == 64, "\(wrong)")
        }
        #expect(try await Tool.run("conflicts", b, "--table", "nothing").status == 1)
    }

    @Test("restore writes the lost values back, and they reach the peer")
    func restore() async throws {
        let (a, b) = try await met(
            "UPDATE person SET name = 'mine' WHERE id = 'p1'; DELETE FROM person WHERE id = 'p2'",
            "UPDATE person SET name = 'yours' WHERE id = 'p1'; UPDATE person SET age = 99 WHERE id = 'p2'")
        let ids = try objects(try await Tool.run("conflicts", a, "--json")).compactMap { $0["id"] as? Int }
        #expect(ids.count == 2)
        let outcome = try await Tool.run([Tool.path, "conflicts", a, "restore"] + ids.map(String.init))
        #expect(outcome.status == 0 && outcome.lines.count == 2)
        #expect(try await Tool.run("sync", a, b).status == 0)
        let all = "SELECT group_concat(id || ' ' || name || ' ' || age, ', ') FROM (SELECT * FROM person ORDER BY id)"
        #expect(try workspace.value(b, all) == "p1 mine 1, p2 name 2 99, p3 name 3 3")
        #expect(try await Tool.run("conflicts", a).output == "No conflicts.\n")
        let restored = try objects(try await Tool.run("conflicts", a, "--state", "restored", "--json"))
        #expect(restored.allSatisfy { $0["closed_time"] is String } && restored.count == 2)
        let status = try #require(try objects(try await Tool.run("status", a, "--json")).first)
        #expect(status["conflicts"] as? Int == 0 && status["conflicts_dropped"] as? Int == 0)
    }

    @Test("a restore that is refused says why, and changes nothing")
    func refused() async throws {
        let (a, _) = try await met(
            "UPDATE person SET name = 'mine' WHERE id = 'p1'", "UPDATE person SET name = 'yours' WHERE id = 'p1'")
        let unknown = try await Tool.run("conflicts", a, "restore", "1", "77")
        #expect(unknown.status == 1 && unknown.errors.contains("no conflict 77"))
        #expect(try workspace.value(a, "SELECT name FROM person WHERE id = 'p1'") == "yours")
        let given = try await Tool.run("conflicts", a, "restore", "1", "--as-new-row")
        #expect(
            given.status == 1 && given.errors.contains("does not choose the keys") && given.errors.contains("Hint: "))
        try workspace.execute(a, "DROP TABLE person")
        let gone = try await Tool.run("conflicts", a, "restore", "1")
        #expect(gone.status == 1 && gone.errors.contains("person") && gone.errors.contains("Hint: "))
        #expect(try await Tool.run("conflicts", a, "--json").lines.count == 1)
    }

    @Test("dismiss takes several numbers, or everything that matches the filters")
    func dismiss() async throws {
        let (a, _) = try await met(
            "UPDATE person SET name = 'mine'", "UPDATE person SET name = 'yours' WHERE id IN ('p1', 'p2', 'p3')")
        #expect(try await Tool.run("conflicts", "dismiss", a, "1").output.contains("Dismissed conflict 1"))
        #expect(try await Tool.run("conflicts", a, "dismiss", "--all", "--key", "p2").lines.count == 1)
        #expect(try await Tool.run("conflicts", a, "--json").lines.count == 1)
        #expect(try await Tool.run("conflicts", a, "dismiss", "--all", "--json").lines.count == 1)
        #expect(try await Tool.run("conflicts", a, "--state", "dismissed", "--json").lines.count == 3)
    }

    @Test("held lists rows and unknown tables, in text and JSON, and the status counts them by reason")
    func held() async throws {
        let a = try workspace.makeDatabase("a.sqlite", rows: 0)
        let b = try workspace.makeDatabase("b.sqlite", rows: 0)
        try workspace.execute(a, "CREATE TABLE tag (name TEXT PRIMARY KEY NOT NULL, code TEXT UNIQUE)")
        try workspace.execute(b, "CREATE TABLE tag (name TEXT PRIMARY KEY NOT NULL, code TEXT UNIQUE)")
        try workspace.execute(b, "CREATE TABLE extra (id INTEGER PRIMARY KEY, x)")
        for path in [a, b] { #expect(try await Tool.run("init", path, "--exclude", "loose").status == 0) }
        #expect(try await Tool.run("held", a).output == "Nothing is held.\n")
        try workspace.execute(a, "INSERT INTO tag VALUES ('first', 'c')")
        try RawConnection.writeLater("INSERT INTO tag VALUES ('second', 'c'); INSERT INTO extra VALUES (1, 2)", at: b)
        #expect(try await Tool.run("sync", a, b).status == 0)
        let lines = try objects(try await Tool.run("held", a, "--json"))
        let row = try #require(lines.first { $0["table"] as? String == "tag" })
        #expect(row["id"] is Int && row["reason"] as? String == "unique" && row["detail"] is String)
        #expect(row["key"] as? [String: String] == ["name": "second"])
        #expect(row["columns"] as? [String: String] == ["code": "c"])
        let table = try #require(lines.first { $0["table"] as? String == "extra" })
        #expect(table["id"] is NSNull && table["reason"] as? String == "missing_table" && table["changes"] as? Int == 1)
        #expect(try await Tool.run("held", a, "--json", "--reason", "unique").lines.count == 1)
        #expect(try await Tool.run("held", a, "--json", "--table", "extra").lines.count == 1)
        #expect(try await Tool.run("held", a, "--table", "nothing").status == 1)
        let text = try await Tool.run("held", a)
        #expect(text.output.contains("unique: "))
        #expect(text.lines.last == "1 row is held, and 1 change waits in the journal.")
        #expect(try await Tool.run("held", a, "--table", "tag").lines.last == "1 row is held.")
        #expect(try await Tool.run("held", a, "--table", "extra").lines.last == "1 change waits in the journal.")
        let status = try #require(try objects(try await Tool.run("status", a, "--json")).first)
        #expect(status["held_by_reason"] as? [String: Int] == ["unique": 1])
    }

    @Test("held has the reasons of its documentation, and no others")
    func reasons() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("docs/CLI.md"), encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("| `reason` | `unique`") })
        let named = line.matches(of: /`([a-z_]+)`/).map { String($0.output.1) }
        #expect(Set(named) == Set(HeldCommand.reasons + ["reason"]))
        #expect(HeldCommand.reasons.prefix(8).allSatisfy { HoldReason(rawValue: $0) != nil })
    }

    @Test("clock shows whose changes are held back, and takes a decision")
    func clock() async throws {
        let a = try await workspace.makeReplica("a.sqlite", rows: 1)
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        #expect(try await Tool.run("clock", b).output == "Nothing is held back.\n")
        // As a machine with a clock 10 years ahead writes it.
        try workspace.execute(a, "UPDATE _journal SET stamp = stamp + 3652")
        let first = try await Tool.run("sync", a, b)
        #expect(first.status == 0 && first.output.contains("Held back there"))
        #expect(try workspace.value(b, "SELECT count(*) FROM person") == 0)
        let line = try #require(try objects(try await Tool.run("clock", b, "--json")).first)
        let origin = try #require(line["origin"] as? String)
        #expect(line["changes"] as? Int == 1 && line["first_version"] as? Int == 1 && line["since"] is String)
        #expect((line["ahead_ms"] as? Int).map { $0 > 3_651 * 86_400_000 } == true)
        #expect(try await Tool.run("clock", b).output.contains("3 65"))
        let status = try #require(try objects(try await Tool.run("status", b, "--json")).first)
        #expect((status["held_back"] as? [[String: Any]])?.first?["origin"] as? String == origin)
        #expect(status["clock_ahead_ms"] as? Int == 0)
        let own = try #require(try objects(try await Tool.run("status", a, "--json")).first)
        #expect((own["clock_ahead_ms"] as? Int).map { $0 > 0 } == true)
        #expect(try await Tool.run("clock", a).output.contains("peers hold them back"))

        #expect(try await Tool.run("clock", a, "repair", origin).status == 64)
        #expect(try await Tool.run("clock", b, "repair").output.hasPrefix("Nothing to repair"))
        #expect(try await Tool.run("clock", b, "accept").status == 64)
        #expect(try await Tool.run("clock", b, "accept", "xyz!").status == 64)
        #expect(try await Tool.run("clock", b, "accept", "00000000").status == 1)
        #expect(try await Tool.run("clock", b, "accept", String(origin.prefix(8))).status == 0)
        #expect(try await Tool.run("sync", a, b).status == 0)
        #expect(try workspace.value(b, "SELECT count(*) FROM person") == 1)
        #expect(try await Tool.run("clock", b).output.contains("accepted"))
        #expect(try await Tool.run("clock", b, "reset", origin).status == 0)
        #expect(try await Tool.run("clock", b, "--json").lines.isEmpty)
        // A peer has accepted them, so the repair is refused.
        let late = try await Tool.run("clock", a, "repair")
        #expect(late.status == 1 && late.errors.contains("a peer has taken them") && late.errors.contains("\nHint: "))
    }

    @Test("clock repair releases the changes of a wrong clock, under a new origin")
    func clockRepair() async throws {
        let a = try await workspace.makeReplica("a.sqlite", rows: 2)
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        try workspace.execute(a, "UPDATE _journal SET stamp = stamp + 3652 WHERE seq = 2")
        #expect(try await Tool.run("sync", a, b).status == 0)
        #expect(try workspace.value(b, "SELECT count(*) FROM person") == 0)
        let before = try #require(try objects(try await Tool.run("status", a, "--json")).first?["origin"] as? String)
        let repaired = try await Tool.run("clock", a, "repair")
        #expect(repaired.status == 0 && repaired.output.contains("1 change got the present time"))
        let after = try #require(try objects(try await Tool.run("status", a, "--json")).first)
        #expect(after["origin"] as? String != before && after["clock_ahead_ms"] as? Int ?? .max < 1_000)
        #expect(try await Tool.run("sync", a, b).status == 0)
        #expect(try workspace.value(b, "SELECT count(*) FROM person") == 2)
        #expect(try await Tool.run("verify", a, b).status == 0)
        #expect(try await Tool.run("clock", a, "repair").output.hasPrefix("Nothing to repair"))
    }

    @Test("sync counts the conflicts that the ledger lists, also when one change loses to several")
    func counted() async throws {
        let (a, b) = (try await workspace.makeReplica("a.sqlite"), try await workspace.makeReplica("b.sqlite", rows: 0))
        #expect(try await Tool.run("sync", a, b).status == 0)
        try workspace.execute(a, "UPDATE person SET name = 'here', age = 7 WHERE id = 'p1'")
        for step in ["name = 'one'", "age = 2", "name = 'three'"] {
            try workspace.execute(b, "UPDATE person SET \(step) WHERE id = 'p1'")
        }
        let exchanged = try #require(try objects(try await Tool.run("sync", a, b, "--json")).first)
        let ledger = try objects(try await Tool.run("conflicts", a, "--json"))
        #expect(ledger.count == 1 && exchanged["conflicts"] as? Int == 1, "\(exchanged)")
    }

    @Test("clock accept, reset and repair print JSON; beside a daemon, repair is refused with what to do")
    func clockAsJSON() async throws {
        let a = try await workspace.makeReplica("a.sqlite", rows: 2)
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        try workspace.execute(a, "UPDATE _journal SET stamp = stamp + 3652 WHERE seq = 2")
        #expect(try await Tool.run("sync", a, b).status == 0)
        let origin = try #require(try objects(try await Tool.run("clock", b, "--json")).first?["origin"] as? String)
        let accepted = try #require(try objects(try await Tool.run("clock", b, "accept", origin, "--json")).first)
        #expect(accepted["origin"] as? String == origin && accepted["action"] as? String == "accept")
        #expect((accepted["allowed_ms"] as? Int).map { $0 > 0 } == true)
        let reset = try #require(try objects(try await Tool.run("clock", b, "reset", origin, "--json")).first)
        #expect(reset["action"] as? String == "reset" && reset["allowed_ms"] as? Int == 0)

        let daemon = try await DaemonProcess.start(a)
        let refused = try await Tool.run("clock", a, "repair", "--json")
        #expect(refused.status == 1 && refused.output.isEmpty)
        #expect(refused.errors.contains("A daemon serves"), "\(refused)")
        #expect(refused.errors.contains("\nHint: Stop the daemon first"), "\(refused)")
        #expect(await daemon.stop().status == 0)
        let repaired = try #require(try objects(try await Tool.run("clock", a, "repair", "--json")).first)
        #expect(repaired["former_origin"] as? String == origin && repaired["origin"] as? String != origin)
        #expect(repaired["kept"] as? Int == 1 && repaired["reissued"] as? Int == 1)
        let again = try #require(try objects(try await Tool.run("clock", a, "repair", "--json")).first)
        #expect(again["origin"] as? String == repaired["origin"] as? String)
        #expect(again["former_origin"] is NSNull && again["kept"] is NSNull && again["reissued"] as? Int == 0)
    }
}

import Foundation
import GRDB
import Journal
import TestSupport
import Testing

@Suite("Damage appears in status, metrics and log, and verify --repair repairs it")
struct ProofTests {
    let workspace = Workspace()

    /// Changes rows without triggers, as a fault would.
    private func damage(_ path: String, _ sql: String) throws {
        let replica = try Replica.open(at: path)
        let merge = try replica.openMergeConnection()
        try merge.write { try $0.execute(sql: sql) }
        try merge.close()
        try replica.close()
    }

    @Test("sync reports a difference that is damage; status shows it, in text and as JSON, until it is repaired")
    func status() async throws {
        let a = try await workspace.makeReplica("a.sqlite")
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        let first = try await Tool.run("sync", a, b)
        #expect(first.status == 0 && !first.output.contains("Different"), "\(first)")
        try damage(b, "UPDATE person SET name = 'rotten' WHERE id = 'p2'")
        // The last comparison was a moment ago, and the next one is due in an hour.
        try workspace.execute(a, "UPDATE _journal_peers SET compared = 1")
        let second = try await Tool.run("sync", a, b, "--recapture", "manual")
        #expect(second.output.contains("Different although both know the same changes: person"), "\(second)")
        #expect(second.errors.contains("holds other rows although both know the same"), "\(second)")
        let text = try await Tool.run("status", a)
        #expect(text.output.contains("DIFFERENT"), "\(text)")
        let json = try await Tool.run("status", a, "--json")
        let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
        let peer = (object?["peers"] as? [[String: Any]])?.first
        let mismatch = (peer?["mismatches"] as? [[String: Any]])?.first
        #expect(mismatch?["table"] as? String == "person")
        #expect(mismatch?["range_count"] as? Int == 1)
        #expect(peer?["compared"] is String)

        let verified = try await Tool.run("verify", a, b)
        #expect(verified.status == 1)
        #expect(verified.output.contains("person ['p2']: name differ"), "\(verified)")
        let repaired = try await Tool.run("verify", a, b, "--repair", "--from-journal")
        #expect(repaired.status == 0, "\(repaired)")
        #expect(repaired.output.contains("1 row sent to the peer again"), "\(repaired)")
        #expect(try workspace.value(b, "SELECT name FROM person WHERE id = 'p2'", as: String.self) == "name 2")
        try workspace.execute(a, "UPDATE _journal_peers SET compared = 1")
        #expect(try await Tool.run("sync", a, b).status == 0)
        #expect(try await !Tool.run("status", a).output.contains("DIFFERENT"))
    }

    @Test("verify --repair --json reports what was repaired, and how the replicas compare afterwards")
    func repairAsJSON() async throws {
        let a = try await workspace.makeReplica("a.sqlite")
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        #expect(try await Tool.run("sync", a, b).status == 0)
        try damage(b, "UPDATE person SET name = 'rotten' WHERE id = 'p2'")
        func verified(_ arguments: String...) async throws -> [String: Any] {
            let outcome = try await Tool.run([Tool.path, "verify", a, b, "--json"] + arguments)
            #expect(outcome.status == (arguments.isEmpty ? 1 : 0) && outcome.lines.count == 1, "\(outcome)")
            return try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        }
        let report = try await verified()
        let table = (report["tables"] as? [[String: Any]])?.first
        let difference = (table?["differences"] as? [[String: Any]])?.first
        #expect(difference?["kind"] as? String == "differs" && difference?["columns"] as? [String] == ["name"])
        #expect(report["same_changes"] as? Bool == true)
        let after = try await verified("--repair", "--from-journal")
        #expect(after["equal"] as? Bool == true)
        #expect((after["repair"] as? [String: Any])?["announced"] as? Int == 1)
    }

    @Test("what a program wrote past capture is kept by verify --repair, and found by init --recapture")
    func pastCapture() async throws {
        let a = try await workspace.makeReplica("a.sqlite")
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        #expect(try await Tool.run("sync", a, b).status == 0)
        func write(_ path: String, _ sql: String) throws {
            let program = try RawConnection(path: path)
            try program.enableTriggers(false)
            try program.run(sql)
        }
        func name(_ path: String, _ id: String) throws -> String? {
            try workspace.value(path, "SELECT name FROM person WHERE id = '\(id)'", as: String.self)
        }
        try write(a, "UPDATE person SET name = 'here' WHERE id = 'p1'")
        try write(b, "UPDATE person SET name = 'there' WHERE id = 'p2'")
        let repaired = try await Tool.run("verify", a, b, "--repair")
        #expect(repaired.status == 0, "\(repaired)")
        #expect(repaired.output.contains("1 row here taken as written by a program, 1 row at the peer"), "\(repaired)")
        for path in [a, b] {
            #expect(try name(path, "p1") == "here")
            #expect(try name(path, "p2") == "there")
        }
        try write(b, "UPDATE person SET name = 'again' WHERE id = 'p1'; DELETE FROM person WHERE id = 'p2'")
        let found = try await Tool.run("init", b, "--recapture")
        #expect(found.status == 0 && found.output.contains("2 changes found that had bypassed capture"), "\(found)")
        #expect(try await Tool.run("sync", b, a).status == 0)
        #expect(try name(a, "p1") == "again")
        #expect(try name(a, "p2") == nil)
        let none = try await Tool.run("init", b, "--recapture")
        #expect(none.status == 0 && none.output.contains("up to date"), "\(none)")
        #expect(try await Tool.run("verify", a, b, "--from-journal").status == 64)
    }

    @Test(
        "the held rows of a peer that is a file are updated, too: rows that a program wrote past a constraint are held, and rows without a clash are shown"
    )
    func fileOfAPeer() async throws {
        let schema = """
            CREATE TABLE person (id INTEGER PRIMARY KEY, mail TEXT UNIQUE);
            CREATE TABLE note (id INTEGER PRIMARY KEY, person INTEGER REFERENCES person (id));
            """
        let (a, b) = (workspace.path("a.sqlite"), workspace.path("b.sqlite"))
        for path in [a, b] {
            try workspace.execute(path, schema)
            #expect(try await Tool.run("init", path, "--foreign-keys", "enforce").status == 0)
        }
        try workspace.execute(a, "INSERT INTO person VALUES (1, 'x@y'); INSERT INTO note VALUES (7, 1)")
        try workspace.execute(b, "INSERT INTO person VALUES (2, 'x@y')")
        func sync() async throws {
            // A comparison that is not due is not made.
            try workspace.execute(a, "UPDATE _journal_peers SET compared = 1")
            let outcome = try await Tool.run("sync", a, b)
            #expect(outcome.status == 0 && !outcome.output.contains("Different"), "\(outcome)")
            for path in [a, b] {
                #expect(try workspace.value(path, "SELECT count(*) FROM pragma_foreign_key_check", as: Int.self) == 0)
            }
        }
        func shown(_ sql: String) throws -> [String?] {
            try [a, b].map { try workspace.value($0, sql, as: String.self) }
        }
        try await sync()
        #expect(try shown("SELECT group_concat(id) FROM person") == ["1", "1"])
        // Foreign keys are off: the note loses its parent, and person 2 gets the mail address.
        try workspace.execute(b, "PRAGMA foreign_keys = OFF; DELETE FROM person WHERE id = 1")
        try await sync()
        #expect(try shown("SELECT group_concat(id) FROM person") == ["2", "2"])
        #expect(try shown("SELECT count(*) FROM note") == ["0", "0"])
        #expect(try shown("SELECT count(*) FROM _journal_held") == ["1", "1"])
        let verified = try await Tool.run("verify", a, b)
        #expect(verified.status == 3 && verified.lines.last == "Equal in 2 tables; 1 row held.", "\(verified)")
    }

    @Test("--repair against a replica that is behind is refused with a sentence and a hint")
    func behind() async throws {
        let a = try await workspace.makeReplica("a.sqlite")
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        let outcome = try await Tool.run("verify", a, b, "--repair")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("do not know the same changes"), "\(outcome)")
        #expect(outcome.errors.contains("Hint: "), "\(outcome)")
        #expect(try workspace.value(b, "SELECT count(*) FROM person", as: Int.self) == 0)
    }

    @Test("a daemon compares by itself, and reports the result in its metrics and its log")
    func daemon() async throws {
        let a = try await workspace.makeReplica("a.sqlite")
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        #expect(try await Tool.run("sync", a, b).status == 0)
        try damage(b, "DELETE FROM person WHERE id = 'p1'")
        let second = try await DaemonProcess.start(b, "--recapture", "manual")
        let first = try await DaemonProcess.start(a, "--peer", second.url, "--recapture", "manual")
        // The peer is new under this address, so a comparison is due with the first exchange after which both
        // know the same.
        // The result commits nothing into the file, so no signal of the file announces it.
        var metrics = ""
        let deadline = ContinuousClock.now + .seconds(60)
        while !metrics.contains("tandem_content_mismatches{"), ContinuousClock.now < deadline {
            metrics = try await RawHTTP.request("GET", "/metrics", port: first.port).body
        }
        #expect(metrics.contains("tandem_content_mismatches{peer=\"\(second.url)\"} 1"), "\(metrics)")
        #expect(await first.stop().log.contains("holds other rows although both know the same"))
        _ = await second.stop()
    }

    @Test(
        "a daemon takes what a program wrote past capture at its peer, or here, and the peer tells it what it has taken"
    )
    func daemonTakes() async throws {
        let a = try await workspace.makeReplica("a.sqlite")
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        #expect(try await Tool.run("sync", a, b).status == 0)
        for (path, key) in [(a, "p1"), (b, "p2")] {
            let program = try RawConnection(path: path)
            try program.enableTriggers(false)
            try program.run("DELETE FROM person WHERE id = '\(key)'")
        }
        let second = try await DaemonProcess.start(b)
        let first = try await DaemonProcess.start(a, "--peer", second.url)
        func rows(_ path: String) throws -> Int? {
            try workspace.value(path, "SELECT count(*) FROM person WHERE id IN ('p1', 'p2')", as: Int.self)
        }
        let deadline = ContinuousClock.now + .seconds(60)
        while try rows(a) != 0 || rows(b) != 0, ContinuousClock.now < deadline { await Task.yield() }
        #expect(try rows(a) == 0 && rows(b) == 0)
        for daemon in [first, second] {
            #expect(await daemon.stop().log.contains("1 row differed from the journal"))
        }
        #expect(try await Tool.run("verify", a, b).status == 0)
    }
}

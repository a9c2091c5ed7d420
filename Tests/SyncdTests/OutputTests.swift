import Foundation
import Journal
import Testing

@testable import SyncdCore

@Suite("The output of the commands")
struct OutputTests {
    let workspace = Workspace()

    private func objects(_ outcome: Outcome) throws -> [[String: Any]] {
        try outcome.lines.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    @Test("a time is written and read back to the millisecond")
    func times() {
        for milliseconds in (1_795_573_862_000...1_795_573_863_001) as ClosedRange<Int64> {
            let text = ConsoleText.time(milliseconds: milliseconds)
            let read = ConsoleText.parseTime(text).map { Int64(($0 * 1_000).rounded()) }
            #expect(read == milliseconds && text.count == 24, "\(text)")
        }
        #expect(ConsoleText.time(milliseconds: -1) == "1969-12-31T23:59:59.999Z")
    }

    @Test("log --json has one object per change, with all fields of the contract")
    func log() async throws {
        let path = try await workspace.makeReplica()
        try workspace.execute(
            path,
            """
            UPDATE person SET age = 40 WHERE id = 'p1';
            DELETE FROM person WHERE id = 'p2';
            INSERT INTO person VALUES ('p9', x'00FF', 9223372036854775807);
            """)
        let lines = try objects(try await Tool.run("log", path, "--json", "--since", "3"))
        #expect(lines.map { $0["op"] as? String } == ["update", "delete", "insert"])
        for (index, line) in lines.enumerated() {
            #expect(line["seq"] as? Int == index + 4)
            #expect(line["version"] as? Int == index + 4)
            #expect(line["table"] as? String == "person")
            #expect(line["local"] as? Bool == true)
            #expect((line["origin"] as? String)?.count == 32)
            #expect((line["time"] as? String)?.hasSuffix("Z") == true)
            #expect(line["stamp"] is Int)
        }
        #expect(lines[0]["key"] as? [String: String] == ["id": "p1"])
        #expect(lines[0]["columns"] as? [String: Int] == ["age": 40])
        #expect((lines[1]["columns"] as? [String: Any])?.isEmpty == true)
        let inserted = try #require(lines[2]["columns"] as? [String: Any])
        #expect(inserted["age"] as? Int64 == .max)
        #expect(inserted["name"] as? [String: String] == ["blob": "AP8="])
    }

    @Test("log shows only the requested table, key and part of the journal")
    func logFilters() async throws {
        let path = try await workspace.makeReplica()
        #expect(try await Tool.run("log", path, "--key", "p2").lines.count == 1)
        #expect(try await Tool.run("log", path, "--key", #"["p2"]"#).lines.count == 1)
        #expect(try await Tool.run("log", path, "--key", "p").lines.isEmpty)
        #expect(try await Tool.run("log", path, "--table", "PERSON", "--since", "1").lines.count == 2)
        #expect(try await Tool.run("log", path, "--since", "99").lines.isEmpty)
    }

    @Test("status --json is one object with all fields of the contract")
    func status() async throws {
        let path = try await workspace.makeReplica(cluster: "shop")
        let status = try #require(try objects(try await Tool.run("status", path, "--json")).first)
        let origin = try #require(status["origin"] as? String)
        #expect(status["cluster"] as? String == "shop")
        #expect(status["vector"] as? [String: Int] == [origin: 3])
        #expect(status["journal_rows"] as? Int == 3)
        #expect(status["held"] as? Int == 0)
        #expect(status["conflicts"] as? Int == 0)
        #expect((status["peers"] as? [Any])?.isEmpty == true)
        #expect((status["sqlite_version"] as? String)?.hasPrefix("3.") == true)
        #expect(status["version"] as? String == Version.current)
        let tables = try #require(status["tables"] as? [[String: Any]])
        #expect(tables.map { $0["name"] as? String } == ["person"])
        #expect(tables.map { $0["rows"] as? Int } == [3])
    }

    @Test("sync --json has one object for each peer, also for a failed exchange")
    func sync() async throws {
        let a = try await workspace.makeReplica("a.sqlite", rows: 3)
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        let outcome = try await Tool.run("sync", a, b, workspace.path("none.sqlite"), "--json")
        #expect(outcome.status == 1)
        let lines = try objects(outcome)
        try #require(lines.count == 2, "\(outcome)")
        #expect(lines[0]["peer"] as? String == b && lines[0]["error"] is NSNull)
        #expect((lines[0]["origin"] as? String)?.count == 32)
        #expect(lines[0]["pushed_changes"] as? Int == 3 && lines[0]["pulled_changes"] as? Int == 0)
        #expect(lines[0]["conflicts"] as? Int == 0 && (lines[0]["mismatches"] as? [Any])?.isEmpty == true)
        for name in ["held_back_here", "held_back_there"] {
            #expect((lines[0][name] as? [String: Any])?.isEmpty == true)
        }
        let error = try #require(lines[1]["error"] as? [String: Any])
        #expect((error["message"] as? String)?.contains("There is no file at") == true)
        #expect(error["code"] is String && error["hint"] is String)
        #expect(outcome.errors.hasPrefix("Error: ") && outcome.errors.contains("\nHint: "), "\(outcome)")
    }

    @Test("verify --json is one object, with the rows that differ, and the exit status of the text")
    func verify() async throws {
        let a = try await workspace.makeReplica("a.sqlite", rows: 3)
        let b = try await workspace.makeReplica("b.sqlite", rows: 1)
        let different = try await Tool.run("verify", a, b, "--json")
        #expect(different.status == 1, "\(different)")
        let report = try #require(try objects(different).first)
        #expect(report["equal"] as? Bool == false && report["same_changes"] as? Bool == false)
        #expect(report["repair"] is NSNull && report["vector"] is [String: Any])
        let table = try #require((report["tables"] as? [[String: Any]])?.first)
        #expect(table["name"] as? String == "person" && table["rows"] as? Int == 3)
        #expect(table["only_here"] as? Int == 2 && table["only_there"] as? Int == 0 && table["differing"] as? Int == 0)
        let differences = try #require(table["differences"] as? [[String: Any]])
        #expect(differences.map { $0["kind"] as? String } == ["only_here", "only_here"])
        #expect(differences.map { $0["key"] as? [String: String] } == [["id": "p2"], ["id": "p3"]])
        #expect(try await Tool.run("sync", a, b).status == 0)
        let equal = try await Tool.run("verify", a, b, "--json")
        #expect(equal.status == 0, "\(equal)")
        let second = try #require(try objects(equal).first)
        #expect(second["equal"] as? Bool == true && second["same_changes"] as? Bool == true)
    }

    @Test("a failure to write the output is an error with a hint")
    func fullDisk() async throws {
        let path = try await workspace.makeReplica()
        let outcome = try await Tool.run(["/bin/sh", "-c", "'\(Tool.path)' log '\(path)' > /dev/full"])
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("The output cannot be written"), "\(outcome)")
        #expect(outcome.errors.contains("\nHint: "), "\(outcome)")
    }

    @Test("commands that read change nothing in the file")
    func readOnly() async throws {
        let path = try await workspace.makeReplica()
        let before = FileManager.default.contents(atPath: path)
        for command in ["log", "status", "conflicts"] {
            #expect(try await Tool.run(command, path).status == 0)
        }
        #expect(FileManager.default.contents(atPath: path) == before)
    }

    @Test("values without a JSON form are told apart")
    func values() {
        #expect(JSONValue(Value.real(1)).text == "1.0")
        #expect(JSONValue(Value.real(.infinity)).text == #"{"real":"inf"}"#)
        #expect(JSONValue(Value.real(-.infinity)).text == #"{"real":"-inf"}"#)
        #expect(JSONValue(Value.integer(.min)).text == "-9223372036854775808")
        #expect(JSONValue(Value.text("a\u{0}\"\\\n\u{2028}é")).text == #""a\u0000\"\\\n\u2028é""#)
        #expect(JSONValue(Value.text([0xFF, 0x41])).text == #"{"text":"/0E="}"#)
        #expect(JSONValue(Value.blob([])).text == #"{"blob":""}"#)
        #expect(JSONValue(Value.null).text == "null")
    }

    @Test("text for people has no characters that move the cursor")
    func printable() {
        #expect(ConsoleText.printable("a\u{1B}[2Jb\rc\u{202E}d\ne") == "a\\u{1b}[2Jb\\u{d}c\\u{202e}d\\ne")
        #expect(Value.text("it's").shown == "'it's'")
    }

    @Test("log --follow shows a change as soon as another process commits it")
    func follow() async throws {
        let path = try await workspace.makeReplica()
        let log = try FollowedCommand("log", path, "--follow", "--json", "--since", "2")
        #expect(try await log.nextLine().contains("\"seq\":3"))
        try workspace.execute(path, "UPDATE person SET age = 50 WHERE id = 'p1'")
        #expect(try await log.nextLine().contains("\"age\":50"))
        try workspace.execute(path, "DELETE FROM person WHERE id = 'p1'")
        #expect(try await log.nextLine().contains("\"op\":\"delete\""))
        log.end()
    }

    @Test("a reader that closes the pipe ends the command quietly")
    func brokenPipe() async throws {
        let path = try await workspace.makeReplica(rows: 20_000)
        let outcome = try await Tool.run(["/bin/sh", "-c", "'\(Tool.path)' log '\(path)' | head -1"])
        #expect(outcome.lines.count == 1)
        #expect(outcome.errors.isEmpty)
    }
}

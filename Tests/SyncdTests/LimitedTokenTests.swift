import Foundation
import HTTPTypes
import Journal
import Testing

@testable import SyncdCore

@Suite("Tokens that are limited to tables", .timeLimit(.minutes(2)))
struct LimitedTokenTests {
    private let workspace = Workspace()
    private static let digest = "sha256:" + String(repeating: "0a", count: 32)

    /// Names and values of the table that limited callers must not know.
    private static let secrets = ["zebra", "okapi", "giraffe"]
    private static let reader = [("Authorization", "Bearer reader-secret")]

    private func hub() async throws -> (daemon: DaemonProcess, path: String) {
        let path = workspace.path("hub.sqlite")
        try workspace.execute(
            path,
            """
            CREATE TABLE price (id TEXT PRIMARY KEY NOT NULL, cents INTEGER);
            CREATE TABLE zebra (id TEXT PRIMARY KEY NOT NULL, okapi TEXT);
            INSERT INTO price VALUES ('a', 1); INSERT INTO zebra VALUES ('z', 'giraffe');
            """)
        #expect(try await Tool.run("init", path).status == 0)
        func line(_ name: String, _ scopes: [TokenScope], _ tables: String...) throws -> String {
            AccessTokens.line(name, scopes, try #require(Token("\(name)-secret")), tables: TableScope(tables))
        }
        let lines = [
            try line("both", [.replicate], "price"), try line("pull", [.pull], "price"),
            try line("push", [.push], "price"), try line("all", [.replicate]), try line("reader", [.read]),
        ]
        let tokens = try workspace.write(lines.joined(separator: "\n") + "\n", to: "tokens")
        return (try await DaemonProcess.start(path, "--tokens", tokens), path)
    }

    private func token(_ name: String) throws -> String { try workspace.write("\(name)-secret", to: "\(name).token") }

    @Test("the command writes the tables, and the file means them")
    func command() async throws {
        let outcome = try await Tool.run(
            "token", "till", "--scope", "replicate", "--table", "price", "--table", "Receipt", "--tokens",
            workspace.path("tokens"), "--json")
        #expect(outcome.status == 0 && outcome.output.contains(#""tables":["price","Receipt"]"#), "\(outcome)")
        let entry = try #require(try AccessTokens.load(from: workspace.path("tokens")).entries.first)
        #expect(entry.tables?.tables == ["price", "Receipt"] && entry.scopes == [.replicate])
        let refusals = [
            (["--scope", "read", "--table", "a"], "others show all tables"),
            (["--scope", "pull", "--table", "a b"], "has a blank or a comma"),
            (["--scope", "pull", "--table", ""], "is empty"),
        ]
        for (arguments, sentence) in refusals {
            let refused = try await Tool.run(
                [Tool.path, "token", "x"] + arguments + ["--tokens", workspace.path("other")])
            #expect(refused.status == 64 && refused.errors.contains(sentence), "\(refused)")
        }
    }

    @Test("a list of tables may stand at any place after the scopes; lines without one mean all tables")
    func lines() throws {
        let tokens = try AccessTokens(
            parsing: """
                a pull \(Self.digest) tables:x,y
                b push tables:X cert-name:b.example
                c replicate tables:x cert-name:c.example sha256:\(String(repeating: "0b", count: 32))
                d replicate,read cert-name:d.example
                """, path: "f")
        #expect(tokens.entries.map { $0.tables?.tables } == [["x", "y"], ["X"], ["x"], nil])
    }

    @Test(
        "a mistake is named with its line and what to do",
        arguments: [
            ("a pull \(digest) tables:", "an empty name"), ("a pull \(digest) tables:a,,b", "an empty name"),
            ("a pull \(digest) tables:a tables:b", "two lists"), ("a pull tables:a", "three words"),
            ("a read \(digest) tables:a", "the scope read"),
            ("a pull,admin \(digest) tables:a", "cannot have the scope"),
            ("a pull \(digest) tables:a\nb push \(digest) tables:b", "there twice"),
        ])
    func mistakes(text: String, sentence: String) throws {
        let failure = #expect(throws: Failure.self) { try AccessTokens(parsing: "# first\n\(text)\n", path: "f") }
        let line = text.contains("\n") ? 3 : 2
        #expect(failure?.message.contains("in line \(line): ") == true, "\(String(describing: failure))")
        #expect(failure?.message.contains(sentence) == true && failure?.hint.isEmpty == false)
    }

    @Test("a caller with two credentials may do what either allows, in the tables of each")
    func grants() throws {
        let some = try #require(TableScope(["a", "b"]))
        let other = try #require(TableScope(["B", "c"]))
        let pull = AccessGrant([.pull], some)
        #expect(pull.tables(for: [.replicate, .pull]) == some)
        #expect(pull.union(AccessGrant([.pull], other)).tables(for: [.pull])?.tables == ["a", "b", "c"])
        #expect(pull.union(AccessGrant([.pull], nil)).tables(for: [.pull]) == nil)
        let both = pull.union(AccessGrant([.push, .read], nil))
        #expect(both.scopes == [.pull, .push, .read])
        #expect(both.tables(for: [.replicate, .pull]) == some && both.tables(for: [.replicate, .push]) == nil)
        #expect(both.tables(for: [.replicate, .pull, .push]) == nil, "the wider scope counts")
        #expect(AccessGrant().union(pull) == pull)
    }

    @Test("every route answers a limited token as one without tables, and tells nothing of other tables")
    func matrix() async throws {
        let (daemon, _) = try await hub()
        let callers: [(String, Set<TokenScope>)] = [("both", [.replicate]), ("pull", [.pull]), ("push", [.push])]
        for route in Route.all where route.access != .anyone {
            for (name, scopes) in callers {
                let answer = try await RawHTTP.request(
                    route.method.rawValue, route.path, port: daemon.port,
                    headers: [("Authorization", "Bearer \(name)-secret")])
                let place = "\(route.path), \(name): \(answer)"
                if scopes.isDisjoint(with: route.scopes) {
                    #expect(answer.status == 403, "\(place)")
                } else {
                    #expect(![401, 403, 500].contains(answer.status), "\(place)")
                }
                let text = (answer.head + answer.body).lowercased()
                #expect(!Self.secrets.contains { text.contains($0) }, "\(place)")
            }
        }
        let (status, log) = await daemon.stop()
        #expect(status == 0 && !log.contains("giraffe"))
    }

    @Test("a leaf follows by its token: its tables arrive, what it writes goes, and its file has nothing else")
    func leaf() async throws {
        let (daemon, hub) = try await hub()
        let path = workspace.path("leaf.sqlite")
        let clone = try await Tool.run("clone", daemon.url, path, "--token-file", try token("both"))
        #expect(clone.status == 0 && clone.output.contains("It is a leaf: the token is limited to price."), "\(clone)")
        #expect(try await Tool.run("status", path).output.contains("has only price, and gives nothing on"))
        try workspace.execute(hub, "INSERT INTO zebra VALUES ('y', 'giraffe 2'); INSERT INTO price VALUES ('b', 2)")
        try workspace.execute(path, "INSERT INTO price VALUES ('c', 3)")
        let sync = try await Tool.run("sync", path, daemon.url, "--token-file", try token("both"))
        #expect(sync.status == 0 && !sync.output.contains("Held back"), "\(sync)")
        #expect(try workspace.value(path, "SELECT group_concat(id, '') FROM price", as: String.self) == "abc")
        #expect(try workspace.value(hub, "SELECT group_concat(id, '') FROM price", as: String.self) == "abc")
        let verify = try await Tool.run("verify", path, daemon.url, "--token-file", try token("both"))
        #expect(verify.status == 0 && !(verify.output + verify.errors).contains("zebra"), "\(verify)")
        for file in [path, path + "-wal"] where FileManager.default.fileExists(atPath: file) {
            let bytes = try Data(contentsOf: URL(filePath: file))
            #expect(!Self.secrets.contains { bytes.range(of: Data($0.utf8)) != nil }, "\(file)")
        }
        #expect(try await !Tool.run("log", path).output.contains("_journal_hidden"))
        // Its own daemon gives nothing to others.
        let leaf = try await DaemonProcess.start(path, "--tokens", workspace.path("tokens"))
        let whole = try await Tool.run("sync", hub, leaf.url, "--token-file", try token("all"))
        #expect(whole.status == 1 && whole.errors.contains("This replica is a leaf"), "\(whole)")
        let copy = try await Tool.run("clone", leaf.url, workspace.path("c"), "--token-file", try token("all"))
        #expect(copy.status == 1 && copy.errors.contains("This replica is a leaf"), "\(copy)")
    }

    @Test("a push of another table stays refused, and status and log say which table and what to do")
    func refusedPush() async throws {
        let (daemon, hub) = try await hub()
        let path = workspace.path("sensor.sqlite")
        try workspace.execute(
            path,
            """
            CREATE TABLE price (id TEXT PRIMARY KEY NOT NULL, cents INTEGER);
            CREATE TABLE wolf (id TEXT PRIMARY KEY NOT NULL);
            """)
        #expect(try await Tool.run("init", path).status == 0)
        let config = """
            database: sensor.sqlite
            listen: 127.0.0.1:0
            token-file: \(try token("push"))
            tokens: \(workspace.path("tokens"))
            peer: [{url: "\(daemon.url)", direction: push}]
            """
        let sensor = try await DaemonProcess.start(
            configuration: try workspace.write(config, to: "sensor.yaml"), environment: [:])
        let there = try EventStream(daemon, Self.reader)
        try workspace.execute(path, "INSERT INTO price VALUES ('s', 9)")
        _ = try await there.next(with: "3</strong> changes in the journal")
        let news = try EventStream(sensor, Self.reader)
        try workspace.execute(path, "BEGIN; INSERT INTO price VALUES ('t', 9); INSERT INTO wolf VALUES ('w'); COMMIT")
        _ = try await news.next(with: "a change of the table wolf")
        let status = try await RawHTTP.request("GET", "/v1/status", port: sensor.port, headers: Self.reader).body
        #expect(status.contains("is limited to price"), "\(status)")
        #expect(try workspace.value(hub, "SELECT group_concat(id, '') FROM price", as: String.self) == "as")
        let (_, log) = await sensor.stop()
        #expect(await daemon.stop().status == 0)
        #expect(log.contains("the table wolf") && log.contains("tokens file"), "\(log)")
        #expect(log.components(separatedBy: "the table wolf").count == 2, "it is logged once: \(log)")
    }
}

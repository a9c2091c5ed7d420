import Foundation
import TestSupport
import Testing

/// The messages and the remedies that the page names.
@Suite("docs/TROUBLESHOOTING.md")
struct TroubleshootingTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private let workspace = Workspace()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }

    /// A command of the page, on a file that has what its row is about.
    private struct Remedy {
        let command: String
        /// Words that follow it, as the sentence around it says.
        var besides: [String] = []
        /// What stands for DB and for PEER.
        var file = "a.sqlite"
        var peer = "b.sqlite"
        var status: Int32 = 0
        /// A part of what it prints.
        let says: String
    }

    private static let remedies = [
        Remedy(command: "init DB", file: "new.sqlite", says: "1 table"),
        Remedy(command: "check DB", file: "keyless.sqlite", status: 3, says: "1 row has NULL in its primary key"),
        Remedy(command: "clock DB", says: "Nothing is held back."),
        Remedy(command: "return DB PEER", file: "away.sqlite", says: "has the content of its peer"),
        Remedy(command: "conflicts DB", says: "rekeyed"),
        Remedy(command: "conflicts DB", says: "update/update"),
        Remedy(command: "held DB", says: "UNIQUE constraint failed: person.name"),
        Remedy(command: "status DB", says: "later  it has no primary key"),
        Remedy(command: "status DB", besides: ["--json"], says: #"{"table":"loose","reason":"excluded""#),
        Remedy(command: "log DB --table T", says: "written as id=1"),
        Remedy(command: "log DB --table T --key K", says: "what="),
        Remedy(command: "show DB T K --at TIME", says: "what"),
        Remedy(command: "verify DB PEER --repair", status: 3, says: "1 row here taken as written by a program"),
        Remedy(command: "status DB", says: "log "),
        Remedy(command: "forget DB ORIGIN", status: 1, says: "--force forgets it all the same"),
        Remedy(command: "forget DB ORIGIN", besides: ["--force"], says: "is forgotten"),
        Remedy(command: "compact DB --vacuum", says: "no page is free"),
    ]

    /// Makes the files in which something is wrong.
    ///
    /// - Returns: The replica that is gone.
    private func makeTrouble() async throws -> String {
        func sync(_ one: String, _ other: String) async throws {
            let outcome = try await Tool.run("sync", workspace.path(one), workspace.path(other))
            try #require(outcome.status == 0, "\(outcome)")
        }
        let a = workspace.path("a.sqlite")
        try workspace.execute(
            a,
            """
            CREATE TABLE person (id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE, age INTEGER);
            CREATE TABLE note (id INTEGER PRIMARY KEY, what TEXT);
            CREATE TABLE loose (what TEXT);
            INSERT INTO person VALUES ('p1', 'one', 1), ('p2', 'two', 2);
            """)
        try #require(try await Tool.run("init", a, "--exclude", "loose").status == 0)
        for name in ["b.sqlite", "away.sqlite", "gone.sqlite"] {
            try #require(try await Tool.run("clone", a, workspace.path(name)).status == 0)
        }
        try workspace.execute(workspace.path("gone.sqlite"), "INSERT INTO person VALUES ('g', 'gone', 0)")
        try await sync("gone.sqlite", "a.sqlite")
        let gone = try #require(
            try workspace.value(
                workspace.path("gone.sqlite"), "SELECT hex(origin) FROM _journal_replica", as: String.self))
        try workspace.execute(
            a,
            """
            UPDATE person SET age = 10 WHERE id = 'p1';
            INSERT INTO note (what) VALUES ('a');
            INSERT INTO person VALUES ('p3', 'same', 1);
            CREATE TABLE later (what TEXT);
            """)
        try RawConnection.writeLater(
            """
            UPDATE person SET age = 20 WHERE id = 'p1';
            INSERT INTO note (what) VALUES ('b');
            INSERT INTO person VALUES ('p4', 'same', 1);
            """, at: workspace.path("b.sqlite"))
        try await sync("a.sqlite", "b.sqlite")
        let program = try RawConnection(path: a)
        try program.enableTriggers(false)
        try program.run("UPDATE person SET age = 30 WHERE id = 'p2'")
        try workspace.execute(workspace.path("new.sqlite"), "CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL)")
        try workspace.execute(
            workspace.path("keyless.sqlite"),
            "CREATE TABLE t (id TEXT PRIMARY KEY, v); INSERT INTO t VALUES (NULL, 1)")
        return gone.lowercased()
    }

    @Test("each command of the page does what its row says, where that is the matter")
    func remedies() async throws {
        let page = try text("docs/TROUBLESHOOTING.md")
        // Names of commands stand alone; `syncd init --cluster` names an option.
        let commands = page.matches(of: /`syncd (\w+ DB[^`]*)`/).map { String($0.1) }
        let known = Set(Self.remedies.map { ([$0.command] + $0.besides).joined(separator: " ") })
        for command in commands { #expect(known.contains(command), "syncd \(command) is not run here") }
        for remedy in Self.remedies {
            #expect(commands.contains(remedy.command), "the page has no syncd \(remedy.command)")
        }
        let gone = try await makeTrouble()
        // Whole seconds, which must not lie before the changes.
        let time = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: 1))
        for remedy in Self.remedies {
            let words = remedy.command.split(separator: " ").map { word in
                switch word {
                case "DB": workspace.path(remedy.file)
                case "PEER": workspace.path(remedy.peer)
                case "ORIGIN": gone
                case "T": "note"
                case "K": "1"
                case "TIME": time
                default: String(word)
                }
            }
            let outcome = try await Tool.run([Tool.path] + words + remedy.besides)
            #expect(outcome.status == remedy.status, "\(remedy.command): \(outcome)")
            #expect((outcome.output + outcome.errors).contains(remedy.says), "\(remedy.command): \(outcome)")
        }
    }

    @Test("each message of the page on troubleshooting is one that the sources have")
    func messages() throws {
        var sources = ""
        let files = FileManager.default.enumerator(
            at: Self.root.appending(path: "Sources"), includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            if file.pathExtension == "swift" { sources += try String(contentsOf: file, encoding: .utf8) }
        }
        var count = 0
        var isOfMessages = false
        for line in try text("docs/TROUBLESHOOTING.md").split(separator: "\n") {
            if line.hasPrefix("| it says") { isOfMessages = true }
            if !line.hasPrefix("|") { isOfMessages = false }
            guard isOfMessages, let message = line.firstMatch(of: /^\| `([^`]*)` \|/)?.1 else { continue }
            count += 1
            for part in message.split(separator: "…") {
                let words = part.trimmingCharacters(in: CharacterSet(charactersIn: " ,"))
                #expect(sources.contains(words), "\"\(words)\" is no message")
            }
        }
        #expect(count > 15)
    }
}

import Foundation
import Journal
import TestSupport
import Testing

/// Property: what a program wrote past capture, in whatever way, becomes a change of this machine when rows are
/// compared with the journal. It reaches the peers, and is no conflict.
@Suite("Writes past capture")
struct PastCaptureTests {
    private let workspace = Workspace()

    /// How a program writes without a trigger of capture. Each sets `body` of the second row to `later`.
    enum Way: String, CaseIterable, Sendable {
        case triggersOff, blobWrite, temporaryTrigger, droppedTriggers, replacedRowid

        func write(_ path: String) throws {
            let program = try RawConnection(path: path)
            let update = "UPDATE note SET body = 'later' WHERE id = 'b'"
            switch self {
            case .triggersOff:
                try program.enableTriggers(false)
                try program.run(update)
            case .blobWrite: try program.overwrite("note", "body", rowid: 2, "later")
            case .temporaryTrigger:
                // SQLite runs temporary triggers first. RAISE(IGNORE) ends the others of the row, and keeps the row.
                try program.run(
                    """
                    CREATE TEMP TRIGGER mine AFTER UPDATE ON main.note BEGIN SELECT RAISE(IGNORE); END;
                    \(update)
                    """)
            case .droppedTriggers:
                let triggers = try program.rows(
                    "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'note'")
                func text(_ row: Int, _ column: Int) -> String {
                    guard case .text(let bytes)? = triggers[row].dropFirst(column).first else { return "" }
                    return String(decoding: bytes, as: UTF8.self)
                }
                // As a tool does that copies a table: without triggers, and with them again afterwards.
                for row in triggers.indices { try program.run("DROP TRIGGER \"\(text(row, 0))\"") }
                try program.run(update)
                for row in triggers.indices { try program.run(text(row, 1)) }
            case .replacedRowid:
                // The row of 'c' is evicted from the rowid that 'b' takes, and nothing tells the triggers.
                try program.run("UPDATE OR REPLACE note SET rowid = 3, body = 'later' WHERE id = 'b'")
            }
        }
    }

    @Test("are found by a comparison of rows with the journal", arguments: Way.allCases)
    func found(way: Way) async throws {
        let (a, b) = (workspace.path("a.sqlite"), workspace.path("b.sqlite"))
        for path in [a, b] {
            try workspace.execute(path, "CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, body TEXT)")
            #expect(try await Tool.run("init", path).status == 0)
        }
        try workspace.execute(a, "INSERT INTO note VALUES ('a', 'older'), ('b', 'older'), ('c', 'older')")
        #expect(try await Tool.run("sync", a, b).status == 0)
        try way.write(a)
        let rows = "SELECT group_concat(id || body, ' ') FROM (SELECT * FROM note ORDER BY id)"
        let shown = way == .replacedRowid ? "aolder blater" : "aolder blater colder"
        #expect(try workspace.value(a, rows, as: String.self) == shown)
        #expect(try await Tool.run("init", a, "--recapture").status == 0)
        let again = try await Tool.run("init", a, "--recapture")
        #expect(again.output.contains("note  up to date"), "\(again)")
        #expect(try await Tool.run("sync", a, b).status == 0)
        for path in [a, b] { #expect(try workspace.value(path, rows, as: String.self) == shown) }
        #expect(try await Tool.run("verify", a, b).status == 0)
        #expect(try await Tool.run("conflicts", b).output.contains("No conflicts"))
        // The value before is in the journal.
        #expect(try await Tool.run("log", a).output.contains("body='older'"))
    }

    @Test("are found by itself when a daemon, or sync, compares the content with a peer", arguments: Way.allCases)
    func bySelf(way: Way) async throws {
        let paths = ["a", "b", "c"].map { workspace.path("\($0).sqlite") }
        for path in paths {
            try workspace.execute(path, "CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, body TEXT)")
            #expect(try await Tool.run("init", path).status == 0)
        }
        let (a, b, c) = (paths[0], paths[1], paths[2])
        try workspace.execute(a, "INSERT INTO note VALUES ('a', 'older'), ('b', 'older'), ('c', 'older')")
        #expect(try await Tool.run("sync", a, b).status == 0)
        #expect(try await Tool.run("sync", b, c).status == 0)
        try way.write(a)
        // The first comparison of two replicas is due at once.
        let asked = try await Tool.run("sync", a, c, "--recapture", "manual")
        #expect(asked.status == 0 && asked.errors.contains("Run `syncd verify --repair`"), "\(asked)")
        let daemon = try await DaemonProcess.start(c)
        let taken = try await Tool.run("sync", a, daemon.url)
        #expect(taken.status == 0 && taken.errors.contains("differed from the journal"), "\(taken)")
        _ = await daemon.stop()
        #expect(try await Tool.run("sync", b, c).status == 0)
        let rows = "SELECT group_concat(id || body, ' ') FROM (SELECT * FROM note ORDER BY id)"
        let shown = way == .replacedRowid ? "aolder blater" : "aolder blater colder"
        for path in paths { #expect(try workspace.value(path, rows, as: String.self) == shown) }
    }
}

import Foundation
import GRDB
import TestSupport
import Testing

@testable import Journal

/// What `docs/JOURNAL.md` says must be true.
@Suite("docs/JOURNAL.md")
struct JournalDocumentTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func document() throws -> String {
        try String(contentsOf: Self.root.appendingPathComponent("docs/JOURNAL.md"), encoding: .utf8)
    }

    private func sql(_ name: String) throws -> String {
        let parts = try document().components(
            separatedBy: "<!-- checked by JournalDocumentTests: \(name) -->\n```sql\n")
        return parts.count == 2 ? parts[1].components(separatedBy: "```")[0] : ""
    }

    @Test("its SQL derives the versions, stamps, lives and columns that the reader returns")
    func queries() throws {
        let fixture = try Fixture("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b); INSERT INTO t VALUES (50, 1, 1)")
        try fixture.execute("INSERT INTO t VALUES (1, 2, 3), (2, 3, 4); UPDATE t SET b = 5; DELETE FROM t WHERE id = 1")
        let merge = try fixture.replica.openMergeConnection()
        try merge.write { db in
            let appender = try JournalAppender(db)
            let shape = TableShape(table: "t", columns: ["id", "a", "b"], keyCount: 1)
            let entry = try appender.register(shape)
            try appender.begin(origin: OriginID(high: 5, low: 5), firstVersion: 7, known: VersionVector())
            let change = Change(
                shape: 0, operation: .delete, life: 2, stamp: Stamp(milliseconds: 4_000_000_000_000),
                mask: ColumnMask(),
                values: 0..<1, endsTransaction: true)
            try appender.append([change], shapes: [entry], values: [.integer(50)])
            try appender.finish()
        }
        try fixture.execute("INSERT INTO t VALUES (1, 1, 1), (9, 9, 9); UPDATE t SET a = 8, b = 7 WHERE id = 9")
        try fixture.replica.write { _ = try Capture.refresh($0) }
        let entries = try fixture.entries()
        let own = try fixture.replica.identity().origin
        let derived = try RawConnection(path: fixture.replica.path).rows(try sql("derived"))
        #expect(derived.count == entries.count && entries.count > 9)
        for (row, entry) in zip(derived, entries) {
            #expect(
                row == [
                    .integer(entry.seq), .text((entry.origin ?? own).description.uppercased()), .integer(entry.version),
                    .integer(entry.stamp.rawValue), .integer(entry.life), .text("t"), .text("\(entry.operation)"),
                ])
        }
        let columns = try RawConnection(path: fixture.replica.path).rows(try sql("columns"))
        let expected = entries.filter { $0.operation == .update }.flatMap { entry in
            entry.columns.map { [Value.integer(entry.seq), .text($0.name)] }
        }
        #expect(columns == expected)
    }

    @Test("it names every table and column of the journal")
    func tables() throws {
        let fixture = try Fixture("CREATE TABLE t (id INTEGER PRIMARY KEY)")
        let document = try document()
        let columns = try fixture.replica.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT l.name AS tbl, c.name AS col FROM pragma_table_list AS l, pragma_table_info(l.name) AS c
                    WHERE l.name LIKE '\\_journal%' ESCAPE '\\' AND l.type = 'table'
                    """)
        }
        #expect(columns.count > 50)
        for row in columns {
            let table: String = row["tbl"]
            let column: String = row["col"]
            #expect(document.contains("`\(table)`") && document.contains("`\(column)`"), "\(table).\(column)")
        }
    }

    // MARK: - Owners

    /// For each table, the folders of `Sources/`, and the files beside them, that the document names as its
    /// writers.
    private func documentedWriters() throws -> [String: Set<String>] {
        let parts = try document().components(separatedBy: "<!-- checked by JournalDocumentTests: owners -->\n")
        try #require(parts.count == 2)
        let rows = parts[1].components(separatedBy: "\n\n")[0].split(separator: "\n").dropFirst(2)
        return Dictionary(
            rows.map { row in
                let cells = row.split(separator: "|").map(String.init)
                let names = cells.map { $0.matches(of: /`([^`]+)`/).map { String($0.output.1) } }
                return (names[0][0], Set(names[2] + names[3]))
            }, uniquingKeysWith: { $0.union($1) })
    }

    /// For each table, the places in `Sources/` whose SQL inserts, updates or deletes its rows.
    private func writersInSources() throws -> [String: Set<String>] {
        let sources = Self.root.appendingPathComponent("Sources")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".swift") }
        let statement = /\b(?:(?:INSERT(?: OR [A-Z]+)?|REPLACE) INTO|UPDATE(?: OR [A-Z]+)?|DELETE FROM) (_journal\w*)/
        var writers: [String: Set<String>] = [:]
        for path in paths {
            let text = try String(contentsOf: sources.appendingPathComponent(path), encoding: .utf8)
                .replacing("\\(JournalSchema.prefix)", with: JournalSchema.prefix)
            // A file in a folder counts as the folder, a file beside the folders as itself.
            let place = path.split(separator: "/").prefix(2).joined(separator: "/")
            for line in text.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("//") {
                for match in line.matches(of: statement) { writers[String(match.output.1), default: []].insert(place) }
            }
        }
        return writers
    }

    @Test("each table of the journal is written only where its row in the list of owners says")
    func owners() throws {
        var documented = try documentedWriters()
        // Its name is computed, so no statement in the sources contains it.
        #expect(documented.removeValue(forKey: "_journal_docs_NAME") == ["Store/FullText"])
        let found = try writersInSources()
        #expect(found.count > 15)
        for table in Set(documented.keys).union(found.keys).sorted() {
            #expect(documented[table] == found[table], "\(table)")
        }
    }

    @Test("an explicit rowid with REPLACE evicts unseen without recursive triggers, and seen with them")
    func explicitRowid() throws {
        for isRecursive in [false, true] {
            let fixture = try Fixture("CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL)", recursiveTriggers: isRecursive)
            try fixture.execute("INSERT INTO t (rowid, id) VALUES (1, 'a'); REPLACE INTO t (rowid, id) VALUES (1, 'b')")
            #expect(try fixture.entries().contains { $0.operation == .delete } == isRecursive)
        }
    }

    @Test("a file of UTF-16 text is journalled in UTF-8")
    func utf16() throws {
        let fixture = try Fixture("PRAGMA encoding = 'UTF-16'; CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, a)")
        try fixture.execute("INSERT INTO t VALUES ('é', '名前'); UPDATE t SET a = 'x'")
        #expect(try fixture.entries().map(\.values) == [[.text("é"), .text("名前")], [.text("é"), .text("x")]])
    }
}

import GRDB
import Journal
import Sync
import TestSupport
import Testing

/// Decision 0013: declared names stand for one table.
@Suite("A renamed table still exchanges with machines that know the old name")
struct RenamedTableTests {
    static let person = "CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT)"
    static let contact = "CREATE TABLE contact(id INTEGER PRIMARY KEY, name TEXT)"
    static let renaming = TableNames.Renaming(old: "person", new: "contact")

    private func declare(_ cluster: Cluster, _ index: Int, _ renaming: TableNames.Renaming = renaming) throws {
        try cluster[index].write { db in
            _ = try TableNames.declare(renaming, db)
            try Capture.refresh(db)
        }
    }

    /// The rows of the table under either name.
    private func rows(_ cluster: Cluster, _ index: Int) throws -> [String] {
        try cluster.content(index).map { $0.split(separator: ": ", maxSplits: 1).last.map(String.init) ?? $0 }
    }

    private func row(_ id: Int, _ name: String) -> String { "integer:\(id) | text:'\(name)'" }

    @Test("old and new names exchange in both directions, also through a machine that has neither table")
    func bothWays() throws {
        let cluster = try Cluster(schemas: [Self.person, Self.person, "CREATE TABLE other(id INTEGER PRIMARY KEY)"])
        try cluster.execute(1, "INSERT INTO person VALUES(1, 'a'), (2, 'b'), (3, 'c')")
        try cluster.converge()
        try declare(cluster, 0)
        try cluster.execute(0, "ALTER TABLE person RENAME TO contact")
        // The renaming journals nothing.
        try cluster[0].refreshDerivedState()
        #expect(try cluster.batches(from: 0, to: 1).isEmpty)
        try cluster.execute(0, "UPDATE contact SET name = 'A' WHERE id = 1; INSERT INTO contact VALUES(4, 'd')")
        try cluster.execute(1, "UPDATE person SET name = 'B' WHERE id = 2; DELETE FROM person WHERE id = 3")
        // The changes arrive only through the relay.
        for (target, source) in [(2, 0), (1, 2), (2, 1), (0, 2)] { try cluster.pull(target, from: source) }
        let expected = [row(1, "A"), row(2, "B"), row(4, "d")]
        #expect(try rows(cluster, 0) == expected)
        #expect(try rows(cluster, 1) == expected)
        // The relay creates the table under the newest name, and recognises it.
        try declare(cluster, 2)
        try cluster.execute(2, Self.contact)
        try cluster.inboxes[2].bringBackHeldRows()
        #expect(try rows(cluster, 2) == expected)
        try cluster.execute(2, "DELETE FROM contact WHERE id = 4")
        try cluster.converge()
        for index in 0..<3 { #expect(try rows(cluster, index) == [row(1, "A"), row(2, "B")]) }
    }

    @Test("a write between the renaming and the next look of capture is not lost")
    func writesInBetween() throws {
        let cluster = try Cluster(2, schema: Self.person)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a')")
        try cluster.converge()
        try declare(cluster, 0)
        let other = try RawConnection(path: cluster[0].path)
        try other.run(
            "ALTER TABLE person RENAME TO contact; INSERT INTO contact VALUES(2, 'b'); DELETE FROM contact WHERE id = 1"
        )
        try cluster.converge()
        #expect(try cluster.content(1) == ["person: \(row(2, "b"))"])
        #expect(try cluster.content(0) == ["contact: \(row(2, "b"))"])
    }

    @Test("unknown names stay unknown, and their rows are shown after the declaration without another exchange")
    func joinsLater() throws {
        let cluster = try Cluster(schemas: [Self.person, Self.contact])
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a'), (2, 'b'); DELETE FROM person WHERE id = 2")
        try cluster.execute(1, "INSERT INTO contact VALUES(5, 'e'), (6, 'f'); DELETE FROM contact WHERE id = 6")
        try cluster.converge()
        #expect(try rows(cluster, 0) == [row(1, "a")])
        #expect(try rows(cluster, 1) == [row(5, "e")])
        #expect(try cluster[1].read { try HeldEntries($0).all().map(\.reason) } == ["missing_table"])
        try declare(cluster, 1)
        try cluster.inboxes[1].bringBackHeldRows()
        #expect(try rows(cluster, 1) == [row(1, "a"), row(5, "e")])
        #expect(try cluster[1].read { try HeldEntries($0).all().isEmpty })
        // From here on it sends changes as the old machine does. What it sent before is shown there after the
        // declaration.
        try cluster.execute(1, "UPDATE contact SET name = 'A' WHERE id = 1; INSERT INTO contact VALUES(7, 'g')")
        try cluster.converge()
        #expect(try rows(cluster, 0) == [row(1, "A"), row(7, "g")])
        try declare(cluster, 0)
        try cluster.inboxes[0].bringBackHeldRows()
        for index in 0..<2 { #expect(try rows(cluster, index) == [row(1, "A"), row(5, "e"), row(7, "g")]) }
    }

    @Test("a renaming that is declared afterwards joins both halves of the table")
    func declaredLate() throws {
        let cluster = try Cluster(2, schema: Self.person)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a'), (2, 'b'), (3, 'c')")
        try cluster.converge()
        try cluster.execute(0, "ALTER TABLE person RENAME TO contact")
        // Capture treats it as a new table.
        try cluster[0].refreshDerivedState()
        try cluster.execute(0, "UPDATE contact SET name = 'A' WHERE id = 1; DELETE FROM contact WHERE id = 2")
        // A row of the table contact counts as written when capture first saw it.
        try cluster.executeLater(1, "UPDATE person SET name = 'C' WHERE id = 3; INSERT INTO person VALUES(4, 'd')")
        try cluster.converge()
        for index in [1, 0] {
            try declare(cluster, index)
            try cluster.inboxes[index].bringBackHeldRows()
        }
        try cluster.converge()
        #expect(try rows(cluster, 0) == rows(cluster, 1))
        #expect(try rows(cluster, 0) == [row(1, "A"), row(3, "C"), row(4, "d")])
        // Both machines mean one table from here on.
        try cluster.execute(0, "UPDATE contact SET name = 'again' WHERE id = 4")
        try cluster.converge()
        #expect(try rows(cluster, 1).last == row(4, "again"))
    }

    @Test("a table that got changes under its other name before the declaration can be written as usual")
    func declaredBetweenContacts() throws {
        let cluster = try Cluster(schemas: [Self.person, Self.contact, Self.person])
        try cluster.execute(1, "INSERT INTO contact VALUES(1, 'a')")
        try cluster.execute(2, "INSERT INTO person VALUES(2, 'b')")
        try cluster.converge()
        #expect(try cluster.heldReasons(0) == ["missing_table"])
        try declare(cluster, 0)
        #expect(try cluster.heldReasons(0).isEmpty)
        try cluster.inboxes[0].bringBackHeldRows()
        #expect(try rows(cluster, 0) == [row(1, "a"), row(2, "b")])
    }

    @Test("without a declaration the renamed table is a new one: the old one stays on other machines")
    func undeclared() throws {
        let cluster = try Cluster(2, schema: Self.person)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a'), (2, 'b')")
        try cluster.converge()
        try cluster.execute(0, "ALTER TABLE person RENAME TO contact")
        // Capture treats it as a new table with all its rows.
        try cluster[0].refreshDerivedState()
        try cluster.execute(0, "UPDATE contact SET name = 'A' WHERE id = 1")
        try cluster.execute(1, "UPDATE person SET name = 'B' WHERE id = 2")
        try cluster.converge()
        let contacts = ["contact: \(row(1, "A"))", "contact: \(row(2, "b"))"]
        let people = ["person: \(row(1, "a"))", "person: \(row(2, "B"))"]
        #expect(try cluster.content(0) == contacts)
        #expect(try cluster.content(1) == people)
        try cluster.execute(1, Self.contact)
        try cluster.inboxes[1].bringBackHeldRows()
        #expect(try cluster.content(1) == contacts + people)
    }

    @Test("names follow several renamings, on machines that stopped at different ones")
    func chain() throws {
        let cluster = try Cluster(3, schema: Self.person)
        for index in [1, 2] {
            try declare(cluster, index)
            try cluster.execute(index, "ALTER TABLE person RENAME TO contact")
        }
        try declare(cluster, 2, .init(old: "contact", new: "partner"))
        try cluster.execute(2, "ALTER TABLE contact RENAME TO partner")
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a')")
        try cluster.execute(1, "INSERT INTO contact VALUES(2, 'b')")
        try cluster.execute(2, "INSERT INTO partner VALUES(3, 'c')")
        try cluster.converge()
        for index in 0..<3 { #expect(try rows(cluster, index) == [row(1, "a"), row(2, "b"), row(3, "c")]) }
    }

    @Test("conflicts, held rows, foreign keys and the policy follow the table")
    func everythingFollows() throws {
        let schema = """
            CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, mail TEXT UNIQUE);
            CREATE TABLE note(id INTEGER PRIMARY KEY, person INTEGER REFERENCES person(id));
            """
        let cluster = try Cluster(2, schema: schema)
        for index in 0..<2 { try cluster[index].write { try MergePolicy.set(.row, table: "person", $0) } }
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a', 'x')")
        try cluster.converge()
        try declare(cluster, 0)
        try cluster.execute(0, "ALTER TABLE person RENAME TO contact")
        try cluster.execute(0, "INSERT INTO contact VALUES(2, 'b', 'y'); UPDATE contact SET name = 'A' WHERE id = 1")
        try cluster.execute(1, "INSERT INTO person VALUES(3, 'c', 'y'); UPDATE person SET mail = 'z' WHERE id = 1")
        try cluster.execute(1, "INSERT INTO note VALUES(1, 3)")
        try cluster.converge()
        #expect(
            try cluster[0].read { try String.fetchAll($0, sql: "SELECT name || mail FROM contact") } == ["az", "by"])
        #expect(
            try cluster[1].read { try String.fetchAll($0, sql: "SELECT name || mail FROM person") } == ["az", "by"])
        for index in 0..<2 {
            #expect(
                try cluster[index].read { try HeldEntries($0).all().map(\.reason).sorted() } == [
                    "foreign_key", "unique",
                ])
            #expect(try cluster.integrity(index).isEmpty)
        }
        let conflicts = try cluster[0].read { try ConflictLedger($0).entries(ConflictFilter(table: "contact")) }
        #expect(conflicts.count == 1)
        #expect(conflicts.first?.table == "contact")
    }

    @Test("a declaration that contradicts the file or an earlier declaration is refused, and changes nothing")
    func refused() throws {
        let cluster = try Cluster(
            1, schema: Self.person + ";" + Self.contact + "; CREATE TABLE x(id INTEGER PRIMARY KEY)")
        func refuses(_ old: String, _ new: String) {
            let error = #expect(throws: JournalError.self) { try declare(cluster, 0, .init(old: old, new: new)) }
            #expect(error?.code == .refused, "\(old) to \(new)")
        }
        refuses("person", "contact")
        refuses("person", "PERSON")
        refuses("x", "_journal_held")
        try declare(cluster, 0, .init(old: "x", new: "y"))
        try declare(cluster, 0, .init(old: "X", new: "Y"))
        refuses("y", "x")
        refuses("z", "y")
        refuses("x", "z")
        #expect(try cluster[0].read { try Int.fetchOne($0, sql: "SELECT count(*) FROM _journal_names") } == 1)
        // A table that takes an older name is not captured, and the report says why.
        try cluster.execute(0, "ALTER TABLE x RENAME TO y; CREATE TABLE x(id INTEGER PRIMARY KEY)")
        let report = try cluster[0].write { try Capture.refresh($0) }
        #expect(report.untracked.map(\.table) == ["x"])
        #expect(report.tracked.map(\.table) == ["contact", "person", "y"])
    }

    @Test(
        "rows that were deleted under the old name and inserted again under the new one cannot be joined")
    func livesCollide() throws {
        let cluster = try Cluster(1, schema: Self.person)
        try cluster.execute(
            0, "INSERT INTO person VALUES(1, 'a'); DELETE FROM person; INSERT INTO person VALUES(1, 'b')")
        try cluster.execute(0, "ALTER TABLE person RENAME TO contact")
        try cluster[0].refreshDerivedState()
        try cluster.execute(0, "UPDATE contact SET name = 'c'")
        let error = #expect(throws: JournalError.self) { try declare(cluster, 0) }
        #expect(error?.code == .refused)
        #expect(try rows(cluster, 0) == [row(1, "c")])
    }

    @Test("a renamed column is a new column with all its values, and the old one stays on other machines")
    func renamedColumn() throws {
        let cluster = try Cluster(2, schema: Self.person)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a')")
        try cluster.converge()
        try cluster.execute(0, "ALTER TABLE person RENAME COLUMN name TO called")
        try cluster.execute(1, "UPDATE person SET name = 'A'")
        try cluster.converge()
        #expect(try rows(cluster, 0) == [row(1, "a")])
        #expect(try rows(cluster, 1) == [row(1, "A")])
        try cluster.execute(1, "ALTER TABLE person ADD COLUMN called TEXT")
        try cluster.inboxes[1].bringBackHeldRows()
        #expect(try rows(cluster, 1) == [row(1, "A") + " | text:'a'"])
    }
}

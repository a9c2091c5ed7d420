import GRDB
import Journal
import TestSupport
import Testing

@Suite("Keys whose collation changes")
struct KeyRenewalTests {
    private static let rebuild = """
        CREATE TABLE n (id TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, a); INSERT INTO n SELECT * FROM t; DROP TABLE t;
        ALTER TABLE n RENAME TO t
        """

    @Test("an unreadable held row is noticed before anything changes")
    func damagedHeldRow() throws {
        let fixture = try Fixture("CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, a)")
        try fixture.execute(
            """
            INSERT INTO _journal_held (tbl, key, reason, detail, image)
              SELECT tbl, x'00', 'unique', '', x'FF' FROM _journal_tables
            """
        )
        try fixture.execute(Self.rebuild)
        let error = #expect(throws: JournalError.self) { try fixture.replica.refreshDerivedState() }
        #expect(error?.code == .corrupt)
    }

    @Test("the life of a key is that of all its spellings")
    func lives() throws {
        let fixture = try Fixture("CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, a)")
        try fixture.execute("INSERT INTO t VALUES ('A', 1)")
        try fixture.execute("DELETE FROM t")
        try fixture.replica.refreshDerivedState()
        try fixture.execute(Self.rebuild)
        try fixture.replica.refreshDerivedState()
        let lives = try fixture.replica.read {
            try String.fetchAll($0, sql: "SELECT hex(key) || ' ' || life FROM _journal_lives")
        }
        #expect(lives == ["03000000000000000161 2"])
    }
}

import Foundation
import GRDB
import TestSupport
import Testing

@testable import Journal

/// A journal that another program wrote to: every reader reports the damage, and does not continue.
@Suite("Damage in the journal's own tables is noticed")
struct DamagedJournalTests {
    struct Damage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sql: String
        let noticed: Place

        init(_ name: String, _ sql: String, by noticed: Place) {
            testDescription = name
            self.sql = sql
            self.noticed = noticed
        }
    }

    /// The reader of the damaged data.
    enum Place: Sendable {
        case identity, journal, seal, merge, rekey, held, notices
    }

    static let damages = [
        Damage("no identity", "DELETE FROM _journal_replica", by: .identity),
        Damage("an unknown shape", "UPDATE _journal SET shape = 99 WHERE seq = 1", by: .journal),
        Damage("an unknown operation", "UPDATE _journal SET op = 9 WHERE seq = 1", by: .journal),
        Damage("a mask beyond the shape", "UPDATE _journal SET mask = 1 << 62 WHERE op = 2", by: .journal),
        Damage("a key of no column", "UPDATE _journal_tables SET key_count = -1", by: .journal),
        Damage("a key wider than its table", "UPDATE _journal_tables SET key_count = 9", by: .journal),
        Damage("names that are no list", "UPDATE _journal_tables SET columns = '{'", by: .journal),
        Damage("an origin of one byte", "UPDATE _journal_origins SET origin = x'01'", by: .journal),
        Damage(
            "a run of the last version that there can be", "UPDATE _journal_runs SET first_version = \(Int64.max)",
            by: .journal),
        Damage(
            "a run at the last position that there can be", "UPDATE _journal_runs SET first_seq = \(Int64.max)",
            by: .journal),
        Damage(
            "a run that reaches beyond the last version", "UPDATE _journal_runs SET first_version = 1 << 60",
            by: .journal),
        Damage("a run of a version before the first", "UPDATE _journal_runs SET first_version = 0", by: .journal),
        Damage("a run of nobody", "UPDATE _journal_runs SET origin = 99", by: .journal),
        Damage("a vector that ends in a number", "UPDATE _journal_runs SET known = x'80'", by: .journal),
        Damage("a vector with a number too many", "UPDATE _journal_runs SET known = x'00'", by: .journal),
        Damage(
            "a vector with a number too large", "UPDATE _journal_runs SET known = x'80808080808080808080'", by: .journal
        ),
        Damage("a vector of nobody", "UPDATE _journal_runs SET known = x'6301'", by: .journal),
        Damage("a last run that begins too late", "UPDATE _journal_runs SET first_seq = 3", by: .seal),
        Damage("no run, for a merge", "DELETE FROM _journal_runs", by: .merge),
        Damage("no run, for a new name", "DELETE FROM _journal_runs", by: .rekey),
        Damage(
            "a held row without an image", "INSERT INTO _journal_held VALUES (1, 1, x'01', 'check', '', x'FF', 0)",
            by: .held),
        Damage(
            "a held row whose image a local change needs",
            """
            INSERT INTO _journal_held SELECT 1, tbl, key, 'foreignKey', '', x'FF', 1
              FROM _journal_tables, (SELECT x'010000000000000001' AS key)
            """, by: .seal),
        Damage("a notice of no key", "INSERT INTO _journal_settled VALUES (1, 1, 2, x'FF', NULL)", by: .notices),
    ]

    @Test("by every reader, with an error that says what", arguments: damages)
    func noticed(_ damage: Damage) throws {
        let fixture = try Fixture("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
        try fixture.execute("INSERT INTO t VALUES (1, 'sealed')")
        try fixture.replica.write { try DerivedState.materialize($0) }
        try fixture.execute("INSERT INTO t VALUES (2, 'not yet'); UPDATE t SET a = 'changed' WHERE id = 1")
        try RawConnection(path: fixture.replica.path).run("PRAGMA ignore_check_constraints = ON; \(damage.sql)")
        let error = #expect(throws: JournalError.self) { try look(fixture.replica, damage.noticed) }
        #expect(error?.code == .corrupt)
    }

    private func look(_ replica: Replica, _ place: Place) throws {
        switch place {
        case .identity: _ = try replica.identity()
        case .journal: _ = try replica.read { try JournalReader($0).entries(after: 0, limit: 100) }
        case .seal: try replica.write { try DerivedState.materialize($0) }
        case .merge: _ = try replica.openMergeConnection().write { try JournalAppender($0) }
        case .rekey:
            let rekey = NewIdentity(.manual, of: try replica.identity().origin, time: 0)
            _ = try replica.write { try rekey.run($0, fingerprint: nil) }
        case .held: _ = try replica.read { try HeldEntries($0).all() }
        case .notices: _ = try replica.read { try VisibilityNotice.all(after: 0, $0) }
        }
    }

    @Test(
        "an identity without some columns, or with other values in them, is damage",
        arguments: [
            "CREATE TABLE _journal_replica (id INTEGER); INSERT INTO _journal_replica VALUES (1)",
            "CREATE TABLE _journal_replica (id INTEGER, format); INSERT INTO _journal_replica VALUES (1, NULL)",
            "CREATE TABLE _journal_replica (id INTEGER, format); INSERT INTO _journal_replica VALUES (1, 'one')",
            "CREATE TABLE _journal_replica (id INTEGER, format); INSERT INTO _journal_replica VALUES (1, 1)",
            """
            CREATE TABLE _journal_replica (id INTEGER, format, origin, cluster);
            INSERT INTO _journal_replica VALUES (1, 1, x'0102030405060708090A0B0C0D0E0F10', 'main')
            """,
        ])
    func foreignIdentity(_ sql: String) throws {
        let directory = TemporaryDirectory()
        let path = directory.file("a.sqlite")
        try RawConnection(path: path).run(sql)
        let error = #expect(throws: JournalError.self) { _ = try Replica.reading(path) }
        #expect(error?.code == .corrupt && error?.hint?.isEmpty == false)
    }

    @Test("a database with a damaged page is not made a replica")
    func damagedPage() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("a.sqlite")
        try RawConnection(path: path).run(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, a);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
              INSERT INTO t SELECT i, hex(randomblob(20)) FROM n
            """)
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: 3 * 4_096)
        try file.write(contentsOf: Data(repeating: 0xFF, count: 100))
        try file.close()
        let error = #expect(throws: JournalError.self) { try Replica.create(at: path, InitializeRequest()) }
        #expect(error?.code == .corrupt && error?.hint?.isEmpty == false)
    }
}

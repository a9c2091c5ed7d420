import GRDB
import TestSupport
import Testing

@testable import Journal

@Suite("The storage of the ledger")
struct ConflictStorageTests {
    @Test("only the delete of a key change is marked")
    func keyChange() throws {
        let fixture = try Fixture(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE TABLE k (x TEXT, y INT, v, PRIMARY KEY (x, y)) WITHOUT ROWID"
        )
        try fixture.execute(
            "INSERT INTO t VALUES (1, 'a'); UPDATE t SET id = 2; DELETE FROM t; REPLACE INTO t VALUES (1, 'b')")
        try fixture.execute("INSERT INTO k VALUES ('x', 1, 1); UPDATE k SET y = 2, v = 3; DELETE FROM k")
        let entries = try fixture.entries()
        #expect(entries.filter(\.isKeyChange).map(\.seq) == [2, 7])
        #expect(
            entries.map(\.operation) == [
                .insert, .delete, .insert, .delete, .insert, .insert, .delete, .insert, .delete,
            ])
    }

    @Test("a key change from a key with NULL is only an insert")
    func nullKey() throws {
        let fixture = try Fixture("CREATE TABLE t (id TEXT PRIMARY KEY, a); INSERT INTO t VALUES (NULL, 1)")
        try fixture.execute("UPDATE t SET id = 'x'")
        let entries = try fixture.entries()
        #expect(entries.map(\.operation) == [.insert] && !entries[0].isKeyChange)
    }

    @Test("entries are found at any positions, over runs of several origins")
    func positions() throws {
        let fixture = try Fixture("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
        let merge = try fixture.replica.openMergeConnection()
        let shape = TableShape(table: "t", columns: ["id", "a"], keyCount: 1)
        var key: Int64 = 1_000
        for round in 1...4 {
            try fixture.execute(
                "WITH RECURSIVE n(i) AS (SELECT \(round * 10) UNION ALL SELECT i + 1 FROM n WHERE i < \(round * 10 + 4)) "
                    + "INSERT INTO t SELECT i, i FROM n")
            try merge.write { db in
                let appender = try JournalAppender(db)
                let entry = try appender.register(shape)
                try appender.begin(
                    origin: OriginID(high: 5, low: UInt64(round % 2)), firstVersion: Int64((round - 1) / 2 * 3 + 1),
                    known: VersionVector())
                for _ in 0..<3 {
                    key += 1
                    let change = Change(
                        shape: 0, operation: .insert, life: 1, stamp: Stamp(milliseconds: key),
                        mask: ColumnMask(all: 2),
                        values: 0..<2, endsTransaction: true)
                    try appender.append([change], shapes: [entry], values: [.integer(key), .null])
                }
                try appender.finish()
            }
        }
        try fixture.replica.read { db in
            let reader = try JournalReader(db)
            let all = try reader.entries(after: 0, limit: .max)
            #expect(all.count == 32)
            for stride in [1, 2, 3, 5, 7, 31] {
                let wanted = all.map(\.seq).filter { $0 % Int64(stride) == 0 }
                let found = try reader.entries(at: wanted + [99, 0, -1])
                #expect(found.keys.sorted() == wanted)
                let odd = try reader.entries(at: wanted) { seq, _ in seq % 2 == 1 }
                #expect(odd.keys.sorted() == wanted.filter { $0 % 2 == 1 })
                for entry in all where found[entry.seq] != nil {
                    let other = try #require(found[entry.seq])
                    #expect(
                        other.version == entry.version && other.stamp == entry.stamp && other.values == entry.values)
                    #expect(other.origin == entry.origin)
                    let origin = entry.origin ?? reader.identity.origin
                    #expect(try reader.position(of: origin, version: entry.version) == entry.seq)
                }
            }
            #expect(try reader.position(of: OriginID(high: 7, low: 7), version: 1) == nil)
            #expect(try reader.position(of: reader.identity.origin, version: 99) == nil)
            #expect(try reader.latestStamp() == all.map(\.stamp).max())
        }
        try merge.close()
    }

    @Test("a losing column that the peer spells differently is recorded and restored")
    func spelling() throws {
        let fixture = try Fixture("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)")
        try fixture.execute("INSERT INTO t VALUES (1, 'mine')")
        let merge = try fixture.replica.openMergeConnection()
        try merge.write { db in
            let appender = try JournalAppender(db)
            let entry = try appender.register(TableShape(table: "T", columns: ["ID", "Name"], keyCount: 1))
            try appender.begin(origin: OriginID(high: 5, low: 1), firstVersion: 1, known: VersionVector())
            let change = Change(
                shape: 0, operation: .insert, life: 1, stamp: Stamp(milliseconds: 1), mask: ColumnMask(all: 2),
                values: 0..<2, endsTransaction: true)
            let seq = try appender.append([change], shapes: [entry], values: [.integer(1), .text("theirs")])
            try appender.finish()
            try db.execute(
                sql: """
                    INSERT INTO _journal_conflicts
                      (tbl, key, kind, columns, lost_origin, lost_version, lost_seq, kept_seq, kept_life, kept_stamp,
                       kept_origin, time)
                    VALUES (?, x'01', 'insert/insert', '["name"]', 1, 1, ?, 1, 1, 1, x'', 0)
                    """, arguments: [entry.table, seq])
        }
        try merge.close()
        let conflict = try #require(try fixture.replica.read { try ConflictLedger($0).entry(1) })
        #expect(conflict.lost.map(\.column) == ["Name"] && conflict.lost.map(\.value) == [.text("theirs")])
        #expect(conflict.kept.map(\.column) == ["name"] && conflict.kept.map(\.value) == [.text("mine")])
        let restored = try fixture.replica.restoreConflicts([1], time: 1)
        #expect(restored.map(\.state) == [.restored])
        #expect(try fixture.replica.read { try String.fetchOne($0, sql: "SELECT name FROM t") } == "theirs")
    }

    @Test("a row image reads back as written, and damaged bytes are refused")
    func image() throws {
        var image = RowImage()
        image.columns = [
            "a": .null, "b": .integer(.min), "c": .real(-0.5), "d": .text([0xFF, 0]), "é": .blob([]), "": .text(""),
        ]
        let bytes = image.encoded()
        #expect(RowImage(encoded: bytes[...]) == image)
        #expect(RowImage(encoded: bytes.dropLast()) == nil)
    }

    @Test("visibility notices are returned in order, and a reader learns that it missed some")
    func settledRows() throws {
        let fixture = try Fixture("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
        #expect(try fixture.replica.read { try VisibilityNotice.lastID($0) } == 0)
        var key = RowImage()
        key.columns = ["id": .integer(7)]
        try fixture.replica.write { db in
            try VisibilityNotice.append(table: 1, .delete, key: key, to: db)
            try VisibilityNotice.append(table: 1, .update, key: nil, to: db)
            try VisibilityNotice.prune(db)
        }
        let notices = try fixture.replica.read { try VisibilityNotice.all(after: 0, $0) }
        #expect(notices?.map(\.operation) == [.delete, .update])
        #expect(notices?.map(\.key) == [key, nil])
        #expect(try fixture.replica.read { try VisibilityNotice.all(after: 2, $0)?.count } == 0)
        try fixture.replica.write { db in
            for _ in 0..<VisibilityNotice.limit { try VisibilityNotice.append(table: 1, .insert, key: key, to: db) }
            try VisibilityNotice.prune(db)
        }
        #expect(try fixture.replica.read { try VisibilityNotice.lastID($0) } == 2 + VisibilityNotice.limit)
        #expect(try fixture.replica.read { try VisibilityNotice.all(after: 1, $0) } == nil)
        #expect(
            try fixture.replica.read { try VisibilityNotice.all(after: 2, $0)?.count } == Int(VisibilityNotice.limit))
    }

    @Test("a file that lacks only the table of visibility notices gets it when it is opened")
    func upgradeOfNotices() throws {
        let fixture = try Fixture("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
        try fixture.execute("DROP TABLE _journal_settled")
        _ = try Replica.open(at: fixture.replica.path)
        #expect(try fixture.replica.read { try VisibilityNotice.lastID($0) } == 0)
    }

    @Test("a file that lacks only the newest columns gets them")
    func upgradeOfColumn() throws {
        let fixture = try Fixture("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
        let upgraded =
            "SELECT count(*) FROM pragma_table_info('_journal_replica') WHERE name IN ('collations', 'stale_seq')"
        try fixture.execute(
            "ALTER TABLE _journal_replica DROP COLUMN collations; ALTER TABLE _journal_replica DROP COLUMN stale_seq")
        #expect(try fixture.replica.read { try Int.fetchOne($0, sql: upgraded) } == 0)
        _ = try Replica.open(at: fixture.replica.path)
        #expect(try fixture.replica.read { try Int.fetchOne($0, sql: upgraded) } == 2)
        #expect(try fixture.replica.read { try JournalUpgrade.isDue($0) } == false)
    }

    @Test("a file of an earlier release is upgraded when it is opened")
    func upgrade() throws {
        let fixture = try Fixture("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
        try fixture.replica.write { db in
            for sql in [
                "DROP TABLE _journal_clocks", "DROP TABLE _journal_settled", "DROP TABLE _journal_ledger",
                "DROP INDEX _journal_conflicts_by_key",
                "ALTER TABLE _journal_conflicts DROP COLUMN closed", "ALTER TABLE _journal_conflicts DROP COLUMN state",
                "ALTER TABLE _journal_conflicts DROP COLUMN lost_stamp", "DROP TABLE _journal_policies",
                "ALTER TABLE _journal_tables DROP COLUMN joined", "DROP TABLE _journal_held",
                """
                CREATE TABLE _journal_held (
                  id INTEGER PRIMARY KEY, tbl INTEGER NOT NULL, key BLOB NOT NULL, reason TEXT NOT NULL,
                  detail TEXT NOT NULL, stamp INTEGER NOT NULL, origin BLOB NOT NULL, image BLOB NOT NULL, UNIQUE (tbl, key)
                ) STRICT
                """, "UPDATE _journal_replica SET format = 1",
            ] { try db.execute(sql: sql) }
        }
        _ = try Replica.open(at: fixture.replica.path)
        #expect(try fixture.replica.read { try JournalUpgrade.isDue($0) } == false)
        #expect(try fixture.replica.read { try ConflictLedger.lastID($0) } == 0)
        let fresh = try Fixture("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
        func shape(_ fixture: Fixture) throws -> [String] {
            try fixture.replica.read {
                try String.fetchAll(
                    $0,
                    sql: """
                        SELECT l.name || '.' || c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || coalesce(c.dflt_value, '')
                        FROM pragma_table_list AS l, pragma_table_info(l.name) AS c WHERE l.name LIKE '\\_journal%' ESCAPE '\\'
                        ORDER BY 1
                        """)
            }
        }
        #expect(try shape(fixture) == shape(fresh))
    }
}

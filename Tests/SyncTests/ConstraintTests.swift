import GRDB
import Journal
import Sync
import TestSupport
import Testing

/// Decision 0008: what tables show depends only on the merged state, and breaks no constraint.
@Suite("Constraints stay on under merge, and held rows return by themselves")
struct ConstraintTests {
    @Test("a chain of UNIQUE clashes over two indexes ends the same in every order")
    func chain() throws {
        let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT UNIQUE, b TEXT UNIQUE)"
        let cluster = try Cluster(4, schema: schema)
        // 1 clashes with 2 by a, and 2 with 3 by b. With 2 held, 3 is shown.
        try cluster.execute(0, "INSERT INTO t VALUES(1, 'x', 'p')")
        try cluster.execute(1, "INSERT INTO t VALUES(2, 'x', 'q')")
        try cluster.execute(2, "INSERT INTO t VALUES(3, 'y', 'q')")
        try cluster.pull(3, from: 2)
        try cluster.pull(3, from: 1)
        try cluster.pull(3, from: 0)
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try shown(cluster, 0, "SELECT id FROM t ORDER BY id") == ["1", "3"])
        try cluster.execute(2, "DELETE FROM t WHERE id = 1")
        try cluster.converge()
        try cluster.expectEqual()
        // 2 has the earlier claim on q.
        #expect(try shown(cluster, 0, "SELECT id FROM t ORDER BY id") == ["2"])
    }

    @Test("a row that its table refuses is held for that reason, also while its parent is missing")
    func refusedAndOrphaned() throws {
        let schema = """
            CREATE TABLE parent(id INTEGER PRIMARY KEY);
            CREATE TABLE child(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent, a, b, CHECK (a <> b))
            """
        let cluster = try Cluster(2, schema: schema)
        try cluster.execute(0, "INSERT INTO parent VALUES(1); INSERT INTO child VALUES(1, 1, 1, 2)")
        try cluster.converge()
        try cluster.execute(0, "UPDATE child SET a = 5")
        try cluster.execute(1, "UPDATE child SET b = 5")
        try cluster.converge()
        for change in ["DELETE FROM parent", "INSERT INTO parent VALUES(1)"] {
            try cluster.execute(0, change)
            try cluster.converge()
            for index in 0..<2 { #expect(try shown(cluster, index, "SELECT reason FROM _journal_held") == ["check"]) }
            try cluster.expectEqual()
        }
    }

    @Test("partial indexes, indexes over expressions and collations decide as in SQLite")
    func indexes() throws {
        let schema = """
            CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, mail TEXT COLLATE NOCASE UNIQUE, live INTEGER);
            CREATE UNIQUE INDEX by_name ON t(lower(name)) WHERE live = 1;
            """
        let cluster = try Cluster(3, schema: schema)
        try cluster.execute(0, "INSERT INTO t VALUES(1, 'Ann', 'a@x', 1), (10, 'Bob', NULL, 0)")
        try cluster.execute(1, "INSERT INTO t VALUES(2, 'ANN', 'b@x', 1), (20, 'BOB', NULL, 1)")
        try cluster.execute(2, "INSERT INTO t VALUES(3, 'Cid', 'A@X', 1)")
        try cluster.pull(0, from: 2)
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try shown(cluster, 0, "SELECT id FROM t ORDER BY id") == ["1", "10", "20"])
        try cluster.execute(1, "UPDATE t SET live = 0 WHERE id = 1")
        try cluster.converge()
        try cluster.expectEqual()
        // 1 left the partial index to 2. A change of a column of its indexes also gives it the later claim on
        // its mail.
        #expect(try shown(cluster, 0, "SELECT id FROM t ORDER BY id") == ["2", "3", "10", "20"])
    }

    @Test(
        "an index over generated columns decides like any other, in every order of arrival",
        arguments: ["VIRTUAL", "STORED"])
    func generatedColumns(kind: String) throws {
        let schema = """
            CREATE TABLE "the table"(id INTEGER PRIMARY KEY, first TEXT, last TEXT CHECK (length(last) < 50), live INTEGER DEFAULT 1,
              "full name" TEXT COLLATE NOCASE GENERATED ALWAYS AS (first || ' ' || last) \(kind) UNIQUE,
              initials TEXT AS (substr(first, 1, 1) || substr(last, 1, 1)) \(kind));
            CREATE UNIQUE INDEX by_initials ON "the table"(lower(initials)) WHERE live > 1;
            """
        let cluster = try Cluster(4, schema: schema)
        let insert = "INSERT INTO \"the table\"(id, first, last, live) VALUES"
        try cluster.execute(0, insert + "(1, 'Ann', 'Lee', 1), (4, 'Q', 'R', 2)")
        try cluster.execute(1, insert + "(2, 'ANN', 'LEE', 1), (5, 'q', 'rr', 3)")
        try cluster.execute(2, insert + "(3, 'ann', 'lee', 1), (6, 'qq', 'rrr', 1)")
        for source in [2, 1, 0] { try cluster.pull(3, from: source) }
        try cluster.converge()
        try cluster.expectEqual()
        let select = "SELECT id FROM \"the table\" ORDER BY id"
        #expect(try shown(cluster, 0, select) == ["1", "4", "6"])
        try cluster.execute(
            3, "UPDATE \"the table\" SET first = 'Bea' WHERE id = 1; DELETE FROM \"the table\" WHERE id = 4")
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try shown(cluster, 0, select) == ["1", "2", "5", "6"])
    }

    @Test("a conflict clause of the schema does not make a merge remove or skip rows")
    func conflictClauses() throws {
        let schema = """
            CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT UNIQUE ON CONFLICT REPLACE, b TEXT UNIQUE ON CONFLICT IGNORE,
              c TEXT NOT NULL ON CONFLICT IGNORE DEFAULT 'c')
            """
        let cluster = try Cluster(3, schema: schema)
        try cluster.execute(0, "INSERT INTO t VALUES(1, 'x', 'p', 'c')")
        try cluster.execute(1, "INSERT INTO t VALUES(2, 'x', 'q', 'c')")
        try cluster.execute(2, "INSERT INTO t VALUES(3, 'y', 'p', 'c')")
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try shown(cluster, 0, "SELECT id FROM t ORDER BY id") == ["1"])
        #expect(try cluster.content(0).filter { $0.hasPrefix("held") }.count == 2)
        try cluster.execute(2, "DELETE FROM t WHERE id = 1")
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try shown(cluster, 0, "SELECT id FROM t ORDER BY id") == ["2", "3"])
    }

    @Test(
        "a child without its parent is shown with NULL or its default where the key says so, and gets its parent back"
    )
    func softKeys() throws {
        let schema = """
            CREATE TABLE team(id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, team INTEGER REFERENCES team ON DELETE SET NULL,
              lead INTEGER DEFAULT 0 REFERENCES person ON DELETE SET DEFAULT);
            """
        let cluster = try Cluster(2, schema: schema)
        try cluster.execute(
            0, "INSERT INTO team VALUES(1, 'a'); INSERT INTO person VALUES(0, 'nobody', NULL, 0), (5, 'boss', 1, 0)")
        try cluster.converge()
        try cluster.execute(0, "DELETE FROM team; DELETE FROM person WHERE id = 5")
        try cluster.execute(1, "INSERT INTO person VALUES(6, 'new', 1, 5)")
        try cluster.converge()
        try cluster.expectEqual()
        #expect(
            try shown(cluster, 1, "SELECT id || ' ' || ifnull(team, '-') || ' ' || lead FROM person ORDER BY id") == [
                "0 - 0", "6 - 0",
            ])
        // Another column changes while the team is missing; then the team returns.
        try cluster.execute(1, "UPDATE person SET name = 'newer' WHERE id = 6")
        try cluster.converge()
        try cluster.execute(0, "INSERT INTO team VALUES(1, 'again')")
        try cluster.converge()
        try cluster.expectEqual()
        #expect(
            try shown(cluster, 0, "SELECT name || ' ' || team || ' ' || lead FROM person WHERE id = 6") == ["newer 1 0"]
        )
    }

    @Test("a program that changes the substitute has decided: the old parent does not return")
    func substituteChanged() throws {
        let schema = """
            CREATE TABLE team(id INTEGER PRIMARY KEY);
            CREATE TABLE person(id INTEGER PRIMARY KEY, team INTEGER REFERENCES team ON DELETE SET NULL);
            """
        let cluster = try Cluster(2, schema: schema)
        try cluster.execute(0, "INSERT INTO team VALUES(1), (2)")
        try cluster.converge()
        try cluster.execute(0, "DELETE FROM team WHERE id = 1")
        try cluster.execute(1, "INSERT INTO person VALUES(1, 1)")
        try cluster.converge()
        try cluster.execute(0, "UPDATE person SET team = 2")
        try cluster.converge()
        try cluster.execute(1, "INSERT INTO team VALUES(1)")
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try shown(cluster, 0, "SELECT team FROM person") == ["2"])
        #expect(try cluster.content(0).allSatisfy { !$0.hasPrefix("held") })
    }

    @Test("the collation of a column decides whether a row belongs to a partial index")
    func conditionWithCollation() throws {
        let schema = """
            CREATE TABLE t(id INTEGER PRIMARY KEY, kind TEXT COLLATE NOCASE, n TEXT);
            CREATE UNIQUE INDEX one_a ON t(kind) WHERE kind = 'a';
            CREATE UNIQUE INDEX one_n ON t(n) WHERE n = 1;
            """
        let cluster = try Cluster(2, schema: schema)
        try cluster.execute(0, "INSERT INTO t VALUES(1, 'A', NULL), (3, NULL, '1')")
        try cluster.execute(1, "INSERT INTO t VALUES(2, 'a', NULL), (4, NULL, '1')")
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try shown(cluster, 1, "SELECT id FROM t ORDER BY id") == ["1", "3"])
    }

    @Test("rows that refer to each other in a cycle stay, and are deleted together")
    func cycle() throws {
        let schema = """
            CREATE TABLE a(id INTEGER PRIMARY KEY, b INTEGER REFERENCES b(id) DEFERRABLE INITIALLY DEFERRED);
            CREATE TABLE b(id INTEGER PRIMARY KEY, a INTEGER REFERENCES a(id) DEFERRABLE INITIALLY DEFERRED);
            """
        let cluster = try Cluster(2, schema: schema)
        try cluster.execute(0, "INSERT INTO a VALUES(1, 1); INSERT INTO b VALUES(1, 1)")
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try cluster.content(1).count == 2)
        try cluster.execute(0, "UPDATE a SET b = NULL; DELETE FROM b")
        try cluster.execute(1, "INSERT INTO a VALUES(2, 1)")
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try shown(cluster, 0, "SELECT id FROM a") == ["1"])
        #expect(try cluster.content(0).filter { $0.hasPrefix("held") }.count == 1)
    }

    @Test("a local insert of a held row's key replaces the row")
    func heldKeyTaken() throws {
        let cluster = try Cluster(2, schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT UNIQUE, n INTEGER)")
        try cluster.execute(0, "INSERT INTO t VALUES(1, 'x', 1)")
        try cluster.execute(1, "INSERT INTO t VALUES(2, 'x', 2)")
        try cluster.converge()
        try cluster.execute(0, "INSERT INTO t VALUES(2, 'free', 3)")
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try shown(cluster, 1, "SELECT a || n FROM t ORDER BY id") == ["x1", "free3"])
        #expect(try cluster.content(0).count == 2)
    }

    static let everything = """
        CREATE TABLE city(id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE UNIQUE, twin INTEGER REFERENCES city(id));
        CREATE TABLE firm(id INTEGER PRIMARY KEY, city INTEGER REFERENCES city(id) ON DELETE CASCADE, tax TEXT, reg TEXT,
          boss INTEGER REFERENCES person(id) ON DELETE SET NULL, size INTEGER CHECK (size < 90), UNIQUE (tax, city));
        CREATE UNIQUE INDEX firm_reg ON firm(lower(reg)) WHERE size > 2;
        CREATE TABLE person(id INTEGER PRIMARY KEY, firm INTEGER REFERENCES firm(id), mail TEXT UNIQUE,
          home INTEGER DEFAULT 1 REFERENCES city(id) ON DELETE SET DEFAULT, nick TEXT UNIQUE);
        """

    @Test(
        "random histories over clashing rows end equal everywhere, complete and valid",
        arguments: 0..<80 as Range<UInt64>)
    func random(seed: UInt64) throws {
        var random = SplitMix(seed: seed &+ 7_000)
        var limits = Limits.standard
        limits.changesPerBatch = random.pick([1, 3, 50, 8_192])
        let cluster = try Cluster(2 + random.below(3), schema: Self.everything, limits: limits)
        for _ in 0..<50 {
            let index = random.below(cluster.replicas.count)
            if random.chance(35) {
                let source = random.below(cluster.replicas.count)
                if source != index { try cluster.pull(index, from: source) }
                continue
            }
            let count = 1 + random.below(3)
            try? cluster[index].write { db in
                for _ in 0..<count { try db.execute(sql: Self.statement(&random)) }
            }
        }
        try cluster.converge()
        for index in cluster.replicas.indices {
            let (mine, first) = (try cluster.content(index), try cluster.content(0))
            #expect(
                mine == first,
                "seed \(seed), replica \(index): \(mine.filter { !first.contains($0) }) against \(first.filter { !mine.contains($0) })"
            )
            #expect(try cluster.ledger(index) == cluster.ledger(0), "seed \(seed)")
            #expect(try cluster.integrity(index).isEmpty, "seed \(seed)")
        }
    }

    private static func statement(_ random: inout SplitMix) -> String {
        func id() -> String { random.chance(15) ? "NULL" : "\(1 + random.below(4))" }
        func text() -> String { random.pick(["'a'", "'A'", "'b'", "'c'", "NULL"]) }
        let key = 1 + random.below(4)
        return random.pick([
            "INSERT OR IGNORE INTO city VALUES(\(key), \(text()), \(id()))",
            "UPDATE OR IGNORE city SET name = \(text()) WHERE id = \(key)",
            "UPDATE OR IGNORE city SET twin = \(id()) WHERE id = \(key)",
            "DELETE FROM city WHERE id = \(key)",
            "INSERT OR IGNORE INTO firm VALUES(\(key), \(id()), \(text()), \(text()), \(id()), \(random.below(5)))",
            "INSERT OR REPLACE INTO firm VALUES(\(key), NULL, \(text()), \(text()), NULL, \(random.below(5)))",
            "UPDATE OR IGNORE firm SET tax = \(text()), size = \(random.below(5)) WHERE id = \(key)",
            "UPDATE OR IGNORE firm SET boss = \(id()) WHERE id = \(key)",
            "DELETE FROM firm WHERE id = \(key)",
            "INSERT OR IGNORE INTO person VALUES(\(key), \(id()), \(text()), \(id()), \(text()))",
            "UPDATE OR IGNORE person SET mail = \(text()), nick = \(text()) WHERE id = \(key)",
            "UPDATE OR IGNORE person SET home = \(id()), firm = \(id()) WHERE id = \(key)",
            "DELETE FROM person WHERE id = \(key)",
        ])
    }

    /// The first column of each row as text.
    private func shown(_ cluster: Cluster, _ index: Int, _ sql: String) throws -> [String] {
        try cluster[index].read { db in
            try Row.fetchAll(db, sql: sql).map { row in
                let value: DatabaseValue = row[0]
                return String.fromDatabaseValue(value) ?? Int64.fromDatabaseValue(value).map { "\($0)" } ?? "NULL"
            }
        }
    }
}

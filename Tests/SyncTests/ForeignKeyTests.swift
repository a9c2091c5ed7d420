import Journal
import Sync
import TestSupport
import Testing

/// Each kind of foreign key when a parent is deleted while another machine refers to it: docs/CONFLICTS.md,
/// "Held rows".
@Suite("Foreign keys of every kind under merge")
struct ForeignKeyTests {
    static let actions = ["NO ACTION", "RESTRICT", "CASCADE", "SET NULL", "SET DEFAULT"]

    private static let children = """
        SELECT id || ' ' || ifnull(parent, '-') || ' ' || ifnull(note, '-') FROM child ORDER BY id
        """

    /// Child 1 of parent 1 is known to all. A removes the parent. Concurrently, B writes a note on child 1
    /// and makes child 2 of the same parent.
    private func meeting(_ clause: String, afterA statements: String) throws -> Cluster {
        let cluster = try Cluster(
            3,
            schema: """
                CREATE TABLE parent(id INTEGER PRIMARY KEY);
                CREATE TABLE child(id INTEGER PRIMARY KEY, parent INTEGER DEFAULT 9 REFERENCES parent(id) \(clause), note TEXT);
                """)
        try cluster.execute(0, "INSERT INTO parent VALUES(1), (9); INSERT INTO child VALUES(1, 1, NULL)")
        try cluster.converge()
        try cluster.execute(0, statements)
        try cluster.execute(1, "UPDATE child SET note = 'b'; INSERT INTO child VALUES(2, 1, NULL)")
        // The third machine gets B's changes first.
        try cluster.pull(2, from: 1)
        try cluster.converge()
        return cluster
    }

    private func parentReturns(_ cluster: Cluster) throws {
        try cluster.execute(0, "INSERT INTO parent VALUES(1)")
        try cluster.converge()
    }

    private func expect(
        _ cluster: Cluster, _ rows: [String], held: [String] = [], lost: Int = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try cluster.expectEqual(sourceLocation: sourceLocation)
        for index in cluster.replicas.indices {
            let (shown, reasons) = (try cluster.text(index, Self.children), try cluster.heldReasons(index))
            #expect(shown == rows, "replica \(index)", sourceLocation: sourceLocation)
            #expect(reasons == held, "replica \(index)", sourceLocation: sourceLocation)
            let ledger = try cluster.ledger(index)
            #expect(ledger.count == lost, "replica \(index): \(ledger)", sourceLocation: sourceLocation)
        }
    }

    @Test(
        "the effect of an ON DELETE action on a child is kept everywhere; a child that it has not seen waits, or shows what the action sets",
        arguments: actions)
    func onDelete(action: String) throws {
        let isSoft = action.hasPrefix("SET")
        // These two actions refuse a delete, so A deletes the child before.
        let isStopping = action == "NO ACTION" || action == "RESTRICT"
        let cluster = try meeting(
            "ON DELETE \(action)",
            afterA: (isStopping ? "DELETE FROM child; " : "") + "DELETE FROM parent WHERE id = 1")
        let set = action == "SET NULL" ? "-" : "9"
        if isSoft {
            try expect(cluster, ["1 \(set) b", "2 \(set) -"])
        } else {
            // Child 1 was deleted, so B's note on it is in the ledger.
            try expect(cluster, [], held: ["foreign_key"], lost: 1)
        }
        try parentReturns(cluster)
        // Child 1 has what A wrote; child 2 has its own value again.
        if isSoft {
            try expect(cluster, ["1 \(set) b", "2 1 -"])
        } else {
            try expect(cluster, ["2 1 -"], lost: 1)
        }
    }

    @Test(
        "the effect of an ON UPDATE action on a child is kept everywhere; a child that it has not seen waits for the old key",
        arguments: actions)
    func onUpdate(action: String) throws {
        let moving = "UPDATE parent SET id = 2 WHERE id = 1"
        let isStopping = action == "NO ACTION" || action == "RESTRICT"
        let cluster = try meeting(
            "ON UPDATE \(action)",
            afterA: isStopping ? "UPDATE child SET parent = NULL; \(moving); UPDATE child SET parent = 2" : moving)
        let moved = ["SET NULL": "-", "SET DEFAULT": "9"][action] ?? "2"
        try expect(cluster, ["1 \(moved) b"], held: ["foreign_key"])
        try parentReturns(cluster)
        try expect(cluster, ["1 \(moved) b", "2 1 -"])
    }

    @Test(
        "a child that cannot be stored with the value that its key sets waits for its parent, as with any other key",
        arguments: [
            "INTEGER NOT NULL REFERENCES parent ON DELETE SET NULL",
            "INTEGER UNIQUE REFERENCES parent ON DELETE SET NULL",
            "INTEGER CHECK (parent IS NOT NULL) REFERENCES parent ON DELETE SET NULL",
            "INTEGER DEFAULT 8 REFERENCES parent ON DELETE SET DEFAULT",
        ])
    func withoutSubstitute(column: String) throws {
        let cluster = try Cluster(
            3,
            schema: """
                CREATE TABLE parent(id INTEGER PRIMARY KEY);
                CREATE TABLE child(id INTEGER PRIMARY KEY, parent \(column), note TEXT);
                """)
        try cluster.execute(0, "INSERT INTO parent VALUES(1)")
        try cluster.converge()
        try cluster.execute(0, "DELETE FROM parent")
        try cluster.execute(1, "INSERT INTO child VALUES(2, 1, NULL)")
        try cluster.pull(2, from: 1)
        try cluster.converge()
        try expect(cluster, [], held: ["foreign_key"])
        try parentReturns(cluster)
        try expect(cluster, ["2 1 -"])
    }

    @Test(
        "a key of two columns refers by both, in any order of its columns; a NULL in one of them refers to nothing",
        arguments: ["", "ON DELETE SET NULL"])
    func composite(clause: String) throws {
        let cluster = try Cluster(
            3,
            schema: """
                CREATE TABLE place(country TEXT NOT NULL, city TEXT NOT NULL, PRIMARY KEY (country, city)) WITHOUT ROWID;
                CREATE TABLE person(id INTEGER PRIMARY KEY, city TEXT, country TEXT,
                  FOREIGN KEY (city, country) REFERENCES place(city, country) \(clause));
                """)
        try cluster.execute(0, "INSERT INTO place VALUES('FR', 'Paris'), ('US', 'Paris')")
        try cluster.converge()
        try cluster.execute(0, "DELETE FROM place WHERE country = 'US'")
        try cluster.execute(
            1, "INSERT INTO person VALUES(1, 'Paris', 'US'), (2, 'Paris', 'FR'), (3, NULL, 'US')")
        try cluster.pull(2, from: 1)
        try cluster.converge()
        let people = "SELECT id || ' ' || ifnull(city, '-') || ' ' || ifnull(country, '-') FROM person ORDER BY id"
        let others = ["2 Paris FR", "3 - US"]
        try cluster.expectEqual()
        #expect(try cluster.text(0, people) == (clause.isEmpty ? [] : ["1 - -"]) + others)
        #expect(try cluster.heldReasons(0) == (clause.isEmpty ? ["foreign_key"] : []))
        try cluster.execute(2, "INSERT INTO place VALUES('US', 'Paris')")
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try cluster.text(0, people) == ["1 Paris US"] + others)
        #expect(try cluster.content(0).allSatisfy { !$0.hasPrefix("held") })
    }

    @Test("a key to another UNIQUE column of the parent follows its values, and waits for a missing one")
    func otherColumn() throws {
        let cluster = try Cluster(
            3,
            schema: """
                CREATE TABLE team(id INTEGER PRIMARY KEY, code TEXT UNIQUE);
                CREATE TABLE person(id INTEGER PRIMARY KEY, code TEXT REFERENCES team(code) ON UPDATE CASCADE);
                """)
        try cluster.execute(0, "INSERT INTO team VALUES(1, 'x'); INSERT INTO person VALUES(1, 'x')")
        try cluster.converge()
        try cluster.execute(0, "UPDATE team SET code = 'y'")
        try cluster.execute(1, "INSERT INTO person VALUES(2, 'x')")
        try cluster.pull(2, from: 1)
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try cluster.text(0, "SELECT id || code FROM person ORDER BY id") == ["1y"])
        #expect(try cluster.heldReasons(0) == ["foreign_key"])
        try cluster.execute(2, "INSERT INTO team VALUES(2, 'x')")
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try cluster.text(0, "SELECT id || code FROM person ORDER BY id") == ["1y", "2x"])
    }

    @Test(
        "in a tree, a new branch below a deleted node waits with everything below it; a row that refers to itself stays"
    )
    func tree() throws {
        let cluster = try Cluster(
            3,
            schema: "CREATE TABLE node(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES node(id) ON DELETE CASCADE)")
        let nodes = "SELECT id || ' ' || ifnull(parent, '-') FROM node ORDER BY id"
        try cluster.execute(0, "INSERT INTO node VALUES(1, NULL), (2, 1), (3, 2)")
        try cluster.converge()
        // The delete cascades to 2 and 3.
        try cluster.execute(0, "DELETE FROM node WHERE id = 1")
        try cluster.execute(1, "INSERT INTO node VALUES(4, 3), (5, 4), (6, 6)")
        try cluster.pull(2, from: 1)
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try cluster.text(0, nodes) == ["6 6"])
        #expect(try cluster.heldReasons(0) == ["foreign_key", "foreign_key"])
        try cluster.execute(0, "INSERT INTO node VALUES(3, NULL)")
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try cluster.text(0, nodes) == ["3 -", "4 3", "5 4", "6 6"])
    }

    @Test("rows in a cycle are all shown or, when one of them is missing, all held, and return together with it")
    func cycle() throws {
        let cluster = try Cluster(
            3,
            schema: """
                CREATE TABLE a(id INTEGER PRIMARY KEY, b INTEGER REFERENCES b(id) DEFERRABLE INITIALLY DEFERRED);
                CREATE TABLE b(id INTEGER PRIMARY KEY, c INTEGER REFERENCES c(id) DEFERRABLE INITIALLY DEFERRED);
                CREATE TABLE c(id INTEGER PRIMARY KEY, a INTEGER REFERENCES a(id) DEFERRABLE INITIALLY DEFERRED);
                """)
        let whole = ["a: integer:1 | integer:1", "b: integer:1 | integer:1", "c: integer:1 | integer:1"]
        try cluster.execute(
            0, "INSERT INTO a VALUES(1, 1); INSERT INTO b VALUES(1, 1); INSERT INTO c VALUES(1, 1)")
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try cluster.content(2) == whole)
        // A connection with foreign keys on could do neither of the two writes.
        try RawConnection(path: cluster[0].path).run("DELETE FROM b")
        try cluster.converge()
        try cluster.expectEqual()
        for index in 0..<3 {
            #expect(try cluster.heldReasons(index) == ["foreign_key", "foreign_key"])
            #expect(try cluster.content(index).count == 2)
        }
        try RawConnection(path: cluster[1].path).run("INSERT INTO b VALUES(1, 1)")
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try cluster.content(2) == whole)
    }

    @Test(
        "a transaction that breaks a deferred key before its end arrives whole, in pieces of any size",
        arguments: [1, 8_192])
    func deferred(changesPerBatch: Int) throws {
        var limits = Limits.standard
        limits.changesPerBatch = changesPerBatch
        let cluster = try Cluster(
            2,
            schema: """
                CREATE TABLE parent(id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE child(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent(id) DEFERRABLE INITIALLY DEFERRED);
                """, limits: limits)
        try cluster.execute(0, "INSERT INTO child VALUES(1, 1); INSERT INTO parent VALUES(1, 'first')")
        try cluster.converge()
        #expect(try cluster.content(1) == ["child: integer:1 | integer:1", "parent: integer:1 | text:'first'"])
        try cluster.execute(0, "DELETE FROM parent; INSERT INTO parent VALUES(1, 'again')")
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try cluster.content(1) == ["child: integer:1 | integer:1", "parent: integer:1 | text:'again'"])
    }

    @Test(
        "a reference by a value of another class is one, as in SQLite: by the parent's affinity",
        arguments: [
            ("INTEGER", "", "'1'"), ("INTEGER", "TEXT", "'01'"), ("INTEGER", "TEXT", "'1.0'"),
            ("INTEGER", "BLOB", "1.0"),
            ("TEXT", "INTEGER", "1"), ("TEXT", "", "1"), ("REAL", "TEXT", "'1'"), ("NUMERIC", "TEXT", "' 1 '"),
        ])
    func otherAffinity(parent: String, child: String, value: String) throws {
        // SQLite's actions compare in another way than its checks, and find no child of the other types.
        for cascades in parent == "INTEGER" || child == "INTEGER" ? [false, true] : [false] {
            let cluster = try Cluster(
                3,
                schema: """
                    CREATE TABLE parent(id \(parent) PRIMARY KEY);
                    CREATE TABLE child(id INTEGER PRIMARY KEY, parent \(child) REFERENCES parent(id) \(cascades ? "ON DELETE CASCADE" : ""), note TEXT);
                    """)
            try cluster.execute(0, "INSERT INTO parent VALUES(1); INSERT INTO child VALUES(1, \(value), NULL)")
            try cluster.converge()
            try cluster.execute(0, "\(cascades ? "" : "DELETE FROM child; ")DELETE FROM parent")
            try cluster.execute(1, "INSERT INTO child VALUES(2, \(value), NULL)")
            // The third machine gets the child first, the first one the delete.
            try cluster.pull(2, from: 1)
            try cluster.converge()
            try cluster.expectEqual()
            for index in 0..<3 {
                #expect(try cluster.text(index, "SELECT id FROM child") == [])
                #expect(try cluster.heldReasons(index) == ["foreign_key"])
            }
            try cluster.execute(2, "INSERT INTO parent VALUES(1)")
            try cluster.converge()
            try cluster.expectEqual()
            #expect(try cluster.text(0, "SELECT CAST(id AS TEXT) FROM child") == ["2"])
        }
    }
}

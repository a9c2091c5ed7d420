import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

@Suite("What held rows cost a transaction that has nothing to do with them")
struct HeldRowCostTests {
    private static let schema = """
        CREATE TABLE post (id TEXT PRIMARY KEY, a);
        CREATE TABLE comment (id TEXT PRIMARY KEY, post TEXT REFERENCES post (id), a);
        CREATE TABLE other (id TEXT PRIMARY KEY, a);
        CREATE TABLE answer (id TEXT PRIMARY KEY, re TEXT REFERENCES answer (id));
        CREATE INDEX answer_re ON answer (re);
        CREATE TABLE mail (id TEXT PRIMARY KEY, a TEXT);
        CREATE UNIQUE INDEX mail_a ON mail (a);
        """
    private let directory = TemporaryDirectory()

    /// A replica that holds `count` comments, whose post is missing.
    private func holder(of count: Int) throws -> ReplicaFixture {
        let fixture = try ReplicaFixture(directory.file("holder\(count).sqlite"), schema: Self.schema)
        try fixture.executeForeign(
            """
            INSERT INTO other VALUES ('o', 0);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO comment SELECT 'c' || i, 'missing', 'text' FROM n
            """)
        #expect(try fixture.inbox.bringBackHeldRows() == count)
        return fixture
    }

    /// The steps of the merge connection during `body`.
    private func steps(_ fixture: ReplicaFixture, _ body: () throws -> Void) throws -> Int {
        let counter = StepCounter()
        try fixture.inbox.connection.read(counter.attach)
        try body()
        try fixture.inbox.connection.read(counter.detach)
        return counter.steps
    }

    private func held(_ fixture: ReplicaFixture) throws -> [String] {
        try fixture.text("SELECT DISTINCT reason || ' ' || count(*) FROM _journal_held GROUP BY reason ORDER BY 1")
    }

    @Test("A change of another table takes as many steps beside 600 held rows as beside 20, also after a restart")
    func otherTable() throws {
        let work = try [20, 600].map { count in
            let holder = try holder(of: count)
            let writer = try ReplicaFixture(directory.file("writer\(count).sqlite"), schema: Self.schema)
            try writer.pull(from: holder)
            // What is held is noted once, after the rows came.
            try holder.restartInbox()
            try holder.inbox.bringBackHeldRows()
            try holder.restartInbox()
            var steps: [Int] = []
            steps.append(try self.steps(holder) { try holder.inbox.bringBackHeldRows() })
            for value in 1...3 {
                try writer.executeForeign(
                    "UPDATE other SET a = \(value); INSERT INTO mail VALUES ('m\(value)', 'x\(value)')")
                steps.append(
                    try self.steps(holder) {
                        try holder.pull(from: writer)
                        try holder.inbox.bringBackHeldRows()
                    })
            }
            #expect(try holder.text("SELECT a FROM other") == ["3"])
            #expect(try holder.text("SELECT count(*) FROM comment") == ["0"])
            return steps
        }
        for (few, many) in zip(work[0], work[1]) { #expect(many < few + 500, "\(work)") }
    }

    @Test("A chain of rows that refer to one another costs in proportion to its length, when it is held and shown")
    func chain() throws {
        let work = try [100, 400].map { count in
            let holder = try ReplicaFixture(directory.file("chain\(count).sqlite"), schema: Self.schema)
            let writer = try ReplicaFixture(directory.file("first\(count).sqlite"), schema: Self.schema)
            try holder.executeForeign(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                INSERT INTO answer SELECT 'a' || i, 'a' || (i - 1) FROM n
                """)
            let setAside = try steps(holder) { try holder.inbox.bringBackHeldRows() }
            #expect(try held(holder) == ["foreign_key \(count)"])
            try writer.executeForeign("INSERT INTO answer VALUES ('unknown', NULL)")
            let evaluated = try steps(holder) { try holder.pull(from: writer) }
            #expect(try held(holder) == ["foreign_key \(count)"])
            try writer.executeForeign("INSERT INTO answer VALUES ('a0', NULL)")
            let shown = try steps(holder) { try holder.pull(from: writer) }
            #expect(try held(holder) == [])
            return [setAside, evaluated, shown]
        }
        for (few, many) in zip(work[0], work[1]) { #expect(many < 5 * few, "\(work)") }
    }

    @Test("Parents that a program inserts while nobody looks free the rows, and the next process looks once")
    func freedWhileClosed() throws {
        let holder = try holder(of: 600)
        try holder.inbox.bringBackHeldRows()
        // A parent of other comments: the held ones are evaluated, and stay held.
        try holder.executeForeign("INSERT INTO post VALUES ('unknown', 0)")
        try holder.restartInbox()
        let first = try steps(holder) { try holder.inbox.bringBackHeldRows() }
        #expect(try held(holder) == ["foreign_key 600"])
        try holder.restartInbox()
        let second = try steps(holder) { try holder.inbox.bringBackHeldRows() }
        #expect(second < first / 4, "\(first) steps, then \(second)")
        try holder.executeForeign("INSERT INTO post VALUES ('missing', 0)")
        try holder.restartInbox()
        #expect(try holder.inbox.bringBackHeldRows() == 0)
        #expect(try holder.text("SELECT count(*) FROM comment") == ["600"])
    }

    @Test("A program that drops the index in the way frees the rows, whoever notices first", arguments: [true, false])
    func droppedIndex(byRestart: Bool) throws {
        let holder = try holder(of: 5)
        let writer = try ReplicaFixture(directory.file("writer.sqlite"), schema: Self.schema)
        try holder.executeForeign("INSERT INTO mail VALUES ('m1', 'same')")
        try writer.executeForeign("INSERT INTO mail VALUES ('m2', 'same')")
        try holder.pull(from: writer)
        #expect(try held(holder) == ["foreign_key 5", "unique 1"])
        try holder.executeForeign("DROP INDEX mail_a")
        if byRestart {
            try holder.restartInbox()
        } else {
            // A merge meets the new schema before the next look.
            try writer.executeForeign("INSERT INTO other VALUES ('p', 1)")
            try holder.pull(from: writer)
        }
        try holder.inbox.bringBackHeldRows()
        #expect(try held(holder) == ["foreign_key 5"])
        #expect(try holder.text("SELECT id FROM mail ORDER BY id") == ["m1", "m2"])
    }

    @Test("A program that overwrites a held row makes the next look evaluate all of them")
    func overwritten() throws {
        let holder = try holder(of: 3)
        try holder.inbox.bringBackHeldRows()
        func isNoted() throws -> [String] { try holder.text("SELECT checked_held IS NOT NULL FROM _journal_replica") }
        #expect(try isNoted() == ["1"])
        try holder.executeForeign("INSERT INTO comment VALUES ('c2', NULL, 'mine')")
        try holder.replica.write { try DerivedState.materialize($0) }
        #expect(try isNoted() == ["0"])
        #expect(try holder.inbox.bringBackHeldRows() == 2)
        #expect(try isNoted() == ["1"])
    }

    @Test("A file without held rows notes nothing of them")
    func nothingHeld() throws {
        let fixture = try ReplicaFixture(directory.file("none.sqlite"), schema: Self.schema)
        try fixture.executeForeign("INSERT INTO other VALUES ('o', 1)")
        try fixture.inbox.bringBackHeldRows()
        #expect(try fixture.text("SELECT checked_held IS NULL FROM _journal_replica") == ["1"])
    }
}

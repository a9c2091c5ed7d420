import GRDB
import Journal
import Sync
import TestSupport
import Testing

@Suite("Tables can merge by the row, or by a function")
struct PolicyTests {
    static let schema = "CREATE TABLE stock(id INTEGER PRIMARY KEY, n INTEGER, note TEXT)"

    private func cluster(_ count: Int, policy: MergePolicy, functions: [ConflictFunctions] = []) throws -> Cluster {
        let cluster = try Cluster(count, schema: Self.schema, functions: functions)
        for replica in cluster.replicas { try replica.write { try MergePolicy.set(policy, table: "stock", $0) } }
        try cluster.execute(0, "INSERT INTO stock VALUES(1, 1, 'x')")
        try cluster.converge()
        return cluster
    }

    /// Adds both sides and ignores the base: enough to see that both versions arrive, in a fixed order.
    private static let adding: ConflictFunctions = {
        var functions = ConflictFunctions()
        functions["add"] = { _, earlier, later in
            guard case .integer(let a) = earlier["n"], case .integer(let b) = later["n"] else { return later }
            return ["n": .integer(a + b)]
        }
        return functions
    }()

    /// A cell of the table under "Policies" in docs/CONFLICTS.md: A sets n to 2, and B, later and without
    /// seeing that, writes `b`.
    struct Cell: Sendable, CustomTestStringConvertible {
        /// The first cell of its line.
        let line: String
        let b: String
        let policy: MergePolicy
        /// The cell's text: the row that all machines end with, n before note.
        let text: String
        /// The values in the ledger.
        var lost: [Value] = []

        var testDescription: String { "\(line), \(policy.text)" }
    }

    static let cells = [
        Cell(line: "different columns", b: "note = 'y'", policy: .column, text: "(2, y)"),
        Cell(
            line: "different columns", b: "note = 'y'", policy: .row, text: "(1, y), A's n in the ledger",
            lost: [.integer(2)]),
        Cell(line: "different columns", b: "note = 'y'", policy: .custom("add"), text: "(3, y)"),
        Cell(line: "one column", b: "n = 5", policy: .column, text: "(5, x)", lost: [.integer(2)]),
        Cell(line: "one column", b: "n = 5", policy: .row, text: "(5, x)", lost: [.integer(2)]),
        Cell(line: "one column", b: "n = 5", policy: .custom("add"), text: "(7, x)", lost: [.integer(2)]),
    ]

    @Test("two concurrent edits end as the document says", arguments: cells)
    func documented(_ cell: Cell) throws {
        let cluster = try cluster(3, policy: cell.policy, functions: Array(repeating: Self.adding, count: 3))
        try cluster.execute(0, "UPDATE stock SET n = 2")
        try cluster.execute(1, "UPDATE stock SET \(cell.b)")
        // The third machine gets B's change first.
        try cluster.pull(2, from: 1)
        try cluster.converge()
        for index in 0..<3 {
            let row = try #require(try cluster.text(index, "SELECT '(' || n || ', ' || note || ')' FROM stock").first)
            #expect(cell.text.hasPrefix(row), "replica \(index) shows \(row)")
            let entries = try cluster[index].read { try ConflictLedger($0).entries() }
            #expect(entries.flatMap { $0.lost.map(\.value) } == cell.lost, "replica \(index)")
        }
    }

    @Test("by the row, the later change stays, with the other columns as its writer saw them")
    func row() throws {
        let cluster = try cluster(3, policy: .row)
        try cluster.execute(0, "UPDATE stock SET n = 2")
        try cluster.execute(1, "UPDATE stock SET note = 'y'")
        try cluster.converge()
        for index in 0..<3 { #expect(try cluster.content(index) == ["stock: integer:1 | integer:1 | text:'y'"]) }
        try cluster.execute(2, "UPDATE stock SET n = 7")
        try cluster.converge()
        for index in 0..<3 { #expect(try cluster.content(index) == ["stock: integer:1 | integer:7 | text:'y'"]) }
    }

    @Test(
        "by the row, a change that loses is one entry of the ledger with everything that it wrote, also without a common column"
    )
    func rowLedger() throws {
        let cluster = try cluster(3, policy: .row)
        try cluster.execute(0, "UPDATE stock SET n = 2, note = 'same'")
        try cluster.execute(1, "UPDATE stock SET note = 'same'")
        try cluster.execute(2, "UPDATE stock SET note = 'z', n = 1")
        try cluster.converge()
        for index in 0..<3 {
            #expect(try cluster.content(index) == ["stock: integer:1 | integer:1 | text:'z'"])
            let entries = try cluster[index].read { try ConflictLedger($0).entries() }
            #expect(entries.count == 2)
            #expect(try cluster.ledger(index) == cluster.ledger(0))
        }
        // A value that only its writer had changed can be restored.
        let cluster2 = try self.cluster(2, policy: .row)
        try cluster2.execute(0, "UPDATE stock SET n = 2")
        try cluster2.execute(1, "UPDATE stock SET note = 'y'")
        try cluster2.converge()
        let lost = try #require(try cluster2[0].read { try ConflictLedger($0).entries() }.first)
        #expect(lost.lost.map(\.column) == ["n"])
        try cluster2[0].restoreConflicts([lost.id], time: 0)
        try cluster2.converge()
        for index in 0..<2 { #expect(try cluster2.content(index) == ["stock: integer:1 | integer:2 | text:'y'"]) }
    }

    @Test("a function gets both versions, and every machine computes the same row")
    func custom() throws {
        let functions = Array(repeating: Self.adding, count: 3)
        let cluster = try cluster(3, policy: .custom("add"), functions: functions)
        try cluster.execute(0, "UPDATE stock SET n = 10")
        try cluster.execute(1, "UPDATE stock SET n = 200, note = 'y'")
        try cluster.converge()
        for index in 0..<3 { #expect(try cluster.content(index) == ["stock: integer:1 | integer:210 | text:'y'"]) }
        // A change over the decided row is an ordinary change.
        try cluster.execute(2, "UPDATE stock SET n = n + 1")
        try cluster.converge()
        for index in 0..<3 { #expect(try cluster.content(index) == ["stock: integer:1 | integer:211 | text:'y'"]) }
    }

    @Test("without the function the row is held, and it is decided when the function is registered")
    func missingFunction() throws {
        let cluster = try cluster(
            3, policy: .custom("add"), functions: [Self.adding, Self.adding, ConflictFunctions()])
        try cluster.execute(0, "UPDATE stock SET n = 10")
        try cluster.execute(1, "UPDATE stock SET n = 200")
        try cluster.converge()
        #expect(try cluster.content(2).count == 1)
        #expect(try cluster.content(2).allSatisfy { $0.contains(" policy ") })
        let inbox = try Inbox(replica: cluster[2], functions: Self.adding, wallClock: { Cluster.now })
        try inbox.bringBackHeldRows()
        #expect(try cluster.content(2) == cluster.content(0))
    }

    @Test("a program that embeds the replicator decides with its functions")
    func embedded() throws {
        let cluster = try cluster(
            3, policy: .custom("add"), functions: [Self.adding, Self.adding, ConflictFunctions()])
        try cluster.execute(0, "UPDATE stock SET n = 10")
        try cluster.execute(1, "UPDATE stock SET n = 200")
        try cluster.converge()
        let replicator = try Replicator(replica: cluster[2], functions: Self.adding)
        try replicator.inbox.bringBackHeldRows()
        #expect(try cluster.content(2) == ["stock: integer:1 | integer:210 | text:'x'"])
    }

    @Test("a policy that is set while an inbox is open applies from the next change on")
    func setLater() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO stock VALUES(1, 1, 'x')")
        try cluster.converge()
        for replica in cluster.replicas { try replica.write { try MergePolicy.set(.row, table: "stock", $0) } }
        try cluster.execute(0, "UPDATE stock SET n = 2")
        try cluster.execute(1, "UPDATE stock SET note = 'y'")
        try cluster.converge()
        for index in 0..<2 { #expect(try cluster.content(index) == ["stock: integer:1 | integer:1 | text:'y'"]) }
    }

    private static let migration = "ALTER TABLE stock ADD COLUMN place TEXT"

    @Test("a row that was decided by the row stays as decided when a column is backfilled")
    func joinedRow() throws {
        let cluster = try cluster(3, policy: .row)
        try cluster.execute(0, "UPDATE stock SET n = 2")
        try cluster.execute(1, "UPDATE stock SET note = 'y'")
        try cluster.converge()
        for index in 0..<2 {
            try cluster.execute(index, Self.migration)
            // A write before capture follows the migration is journalled only at its next look.
            try cluster.inboxes[index].bringBackHeldRows()
        }
        try cluster.execute(0, "UPDATE stock SET place = 'a'")
        try cluster.executeLater(1, "UPDATE stock SET place = 'b'")
        try cluster.converge()
        try cluster.execute(2, Self.migration)
        try cluster.inboxes[2].bringBackHeldRows()
        for index in 0..<3 {
            let content = try cluster.content(index)
            #expect(content == ["stock: integer:1 | integer:1 | text:'y' | text:'b'"])
        }
    }

    @Test(
        "a column that only the losing change carries shows its default everywhere, also where it is backfilled later")
    func joinedLoser() throws {
        let cluster = try cluster(3, policy: .row)
        try cluster.execute(0, Self.migration)
        try cluster.execute(0, "UPDATE stock SET place = 'a'")
        try cluster.executeLater(1, "UPDATE stock SET note = 'z'")
        try cluster.converge()
        for index in 1..<3 {
            try cluster.execute(index, Self.migration)
            try cluster.inboxes[index].bringBackHeldRows()
        }
        for index in 0..<3 {
            let content = try cluster.content(index)
            #expect(content == ["stock: integer:1 | integer:1 | text:'z' | null:NULL"])
        }
    }

    @Test("a row that a function made stays when a column is backfilled")
    func joinedSum() throws {
        let cluster = try cluster(3, policy: .custom("add"), functions: Array(repeating: Self.adding, count: 3))
        try cluster.execute(0, "UPDATE stock SET n = 10")
        try cluster.execute(1, "UPDATE stock SET n = 200")
        try cluster.converge()
        for index in 0..<2 { try cluster.execute(index, Self.migration) }
        try cluster.execute(0, "UPDATE stock SET place = 'a'")
        try cluster.converge()
        try cluster.executeLater(1, "UPDATE stock SET place = 'b'")
        try cluster.converge()
        try cluster.execute(2, Self.migration)
        try cluster.inboxes[2].bringBackHeldRows()
        for index in 0..<3 {
            #expect(try cluster.content(index) == ["stock: integer:1 | integer:210 | text:'x' | text:'b'"])
        }
    }

    @Test("a row without a conflict needs no function when a column is backfilled")
    func joinedWithoutFunction() throws {
        let cluster = try cluster(2, policy: .custom("add"))
        try cluster.execute(0, Self.migration)
        try cluster.execute(0, "UPDATE stock SET place = 'a'")
        try cluster.converge()
        try cluster.execute(1, Self.migration)
        try cluster.inboxes[1].bringBackHeldRows()
        for index in 0..<2 {
            #expect(try cluster.content(index) == ["stock: integer:1 | integer:1 | text:'x' | text:'a'"])
        }
    }

    @Test("random edits under each policy end the same on all machines", arguments: 0..<20 as Range<UInt64>)
    func random(seed: UInt64) throws {
        var random = SplitMix(seed: seed &+ 500)
        let count = 2 + random.below(3)
        let policy: MergePolicy = random.chance(50) ? .row : .custom("add")
        let cluster = try cluster(count, policy: policy, functions: Array(repeating: Self.adding, count: count))
        for _ in 0..<30 {
            let index = random.below(count)
            let source = random.below(count)
            if random.chance(40), source != index {
                try cluster.pull(index, from: source)
                continue
            }
            let statements = [
                "UPDATE stock SET n = \(random.below(9))", "UPDATE stock SET note = '\(random.below(9))'",
                "UPDATE stock SET n = n + 1, note = 'z'", "DELETE FROM stock",
                "INSERT OR IGNORE INTO stock VALUES(1, \(random.below(9)), 'new')",
            ]
            try cluster.execute(index, statements[random.below(random.chance(20) ? 5 : 3)])
        }
        try cluster.converge()
        for index in 0..<count { #expect(try cluster.content(index) == cluster.content(0), "seed \(seed), \(policy)") }
    }
}

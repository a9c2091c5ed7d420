import GRDB
import Journal
import Testing

@testable import Sync

/// Shows that the check of debug builds can fail: it finds held rows that are broken by hand, and names the
/// invariant.
@Suite struct RowStoreInvariantTests {
    private let cluster: Cluster

    init() throws {
        cluster = try Cluster(1, schema: "CREATE TABLE seat (id INTEGER PRIMARY KEY, guest TEXT)")
        try cluster.execute(0, "INSERT INTO seat VALUES (1, 'Ann')")
    }

    /// The report of the check after `breaking`, for the row of `seat` with this number.
    private func violation(
        _ id: Int64, _ breaking: (RowStore, RowStore.RowID) throws -> Void
    ) throws -> String? {
        try cluster[0].write { db in
            let registry = try ShapeRegistry(db)
            let store = try RowStore(db, session: ApplySession(db), registry: registry)
            let entry = try #require(registry.tracked(table: "seat"))
            let key = TableKey(table: entry.table, key: Key([.integer(id)]))
            let row = try #require(store.id(of: key, entry: entry, values: [.integer(id)]))
            #expect(try store.invariantViolation() == nil)
            try breaking(store, row)
            return try store.invariantViolation()
        }
    }

    private func held(_ reason: HoldReason, id: Int64, isShown: Bool = false) -> HeldRow {
        var image = RowImage()
        image.columns = ["id": .integer(id), "guest": .text(Array("Bob".utf8)[...])]
        return HeldRow(reason: reason, detail: "", image: image, isShown: isShown)
    }

    @Test("a held row that its table shows is detected")
    func heldAndVisible() throws {
        let violation = try violation(1) { store, row in try store.held.hold(row.key, held(.unique, id: 1)) }
        #expect(violation == "1: a row that is held as unique is in seat")
    }

    @Test("a row with substitutes that is not in its table is detected")
    func shownAndAbsent() throws {
        let violation = try violation(2) { store, row in
            try store.held.hold(row.key, held(.foreignKey, id: 2, isShown: true))
        }
        #expect(violation == "1: a row that is shown with substitutes is not in seat")
    }

    @Test("substitutes without a missing parent are detected")
    func substitutes() throws {
        let violation = try violation(1) { store, row in
            try store.held.hold(row.key, held(.check, id: 1, isShown: true))
        }
        #expect(violation == "2: a row that is held as check is shown")
    }

    @Test("a held row under the key of another row is detected")
    func key() throws {
        let violation = try violation(2) { store, row in try store.held.hold(row.key, held(.unique, id: 3)) }
        #expect(violation == "3: the image of a held row of seat has another key")
    }

    @Test("unchecked foreign keys are detected")
    func unchecked() throws {
        let violation = try violation(1) { store, row in store.unchecked[row.key] = row }
        #expect(violation == "4: the foreign keys of 1 rows were not checked")
    }

    @Test("correct held rows pass")
    func sound() throws {
        let violation = try violation(2) { store, row in try store.held.hold(row.key, held(.unique, id: 2)) }
        #expect(violation == nil)
    }
}

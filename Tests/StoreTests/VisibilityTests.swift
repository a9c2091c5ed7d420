import GRDB
import Journal
import Store
import Testing

@Model
final class Room {
    var id: Int64
    var name: String = ""
}

@Model
final class Seat {
    var id: Int64
    var room: Int64?
    var label: String = ""
}

/// A merge may hide a row because of a change of another one, and show it again. The row itself has no entry
/// in the journal.
@Suite("Objects follow rows that merges hold and show again", .timeLimit(.minutes(1)))
struct VisibilityTests {
    /// Two machines that know room 1. The second one has a seat in it, which the first one does not know.
    private struct Building {
        let first: ReplicatedDatabase
        let second: ReplicatedDatabase
        let seat: Seat

        init(onDelete: String) throws {
            let declare = { (schema: inout SchemaBuilder) in
                schema.version(1) {
                    try $0.execute(
                        SQL(
                            raw: """
                                CREATE TABLE Room (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                                CREATE TABLE Seat (
                                  id INTEGER PRIMARY KEY, room INTEGER REFERENCES Room (id) \(onDelete), label TEXT NOT NULL);
                                """))
                }
            }
            first = try ReplicatedDatabase(declare)
            second = try ReplicatedDatabase(declare)
            try Room.create(1, in: first.db) { $0.name = "Hall" }
            try second.pull(from: first)
            seat = try Seat.create(7, in: second.db) {
                $0.room = 1
                $0.label = "A"
            }
        }

        /// The first machine deletes the room before it knows of the seat, and the second one gets the
        /// delete.
        func deleteRoom() throws {
            try Room.find(1, in: first.db)?.delete()
            try second.pull(from: first)
        }

        func makeRoomAgain() throws {
            try Room.create(1, in: first.db) { $0.name = "Hall again" }
            try second.pull(from: first)
        }
    }

    @Test("[47] an object whose row is held is deleted, and alive again when the row is shown again")
    func follows() throws {
        let building = try Building(onDelete: "")
        try building.deleteRoom()
        try building.second.db.refresh()
        #expect(building.seat.isDeleted)
        #expect(try building.second.db.heldRows().map(\.table) == ["Seat"])
        try building.makeRoomAgain()
        try building.second.db.refresh()
        #expect(!building.seat.isDeleted && building.seat.room == 1)
        #expect(try Seat.find(7, in: building.second.db) === building.seat)
    }

    @Test("[47] an object shows the substitute for a missing parent, and the parent's key when it exists again")
    func substitutes() throws {
        let building = try Building(onDelete: "ON DELETE SET NULL")
        try building.deleteRoom()
        try building.second.db.refresh()
        #expect(!building.seat.isDeleted && building.seat.room == nil)
        try building.makeRoomAgain()
        try building.second.db.refresh()
        #expect(building.seat.room == 1)
    }

    @Test("[39] listeners get events of rows that are held and shown again")
    func events() async throws {
        let building = try Building(onDelete: "")
        let events = Seat.changes(in: building.second.db).makeAsyncIterator()
        try building.deleteRoom()
        let left = try #require(await events.next())
        #expect(left.changes.map(\.id) == [7] && left.changes.first?.kind == .deleted)
        #expect(left.changes.first?.old?.label == "A")
        try building.makeRoomAgain()
        let back = try #require(await events.next())
        #expect(back.changes.map(\.id) == [7] && back.changes.first?.kind == .inserted)
    }

    @Test("[44, 45] cached values and live queries follow them too")
    func queries() async throws {
        let building = try Building(onDelete: "")
        let db = building.second.db
        func labels() throws -> [String] { try db.cached("labels") { try Seat.query.select(\.label, in: db) } }
        let live = db.live { try Seat.query.select(\.label, in: db) }.makeAsyncIterator()
        #expect(try labels() == ["A"])
        #expect(try await live.next() == ["A"])
        try building.deleteRoom()
        #expect(try await live.next() == [])
        #expect(try labels() == [])
        try building.makeRoomAgain()
        #expect(try await live.next() == ["A"])
        #expect(try labels() == ["A"])
    }

    @Test("[16] a save that begins before any refresh sees that the row is held, and an edit loses nothing")
    func saves() throws {
        let building = try Building(onDelete: "")
        let db = building.second.db
        try db.transaction { _ = try Room.count(in: db) }
        try building.deleteRoom()
        #expect(code { try building.seat.save { $0.label = "B" } } == .deleted)
        // The save was rolled back with everything that it saw. The next refresh reports it to the object.
        try db.refresh()
        #expect(building.seat.isDeleted && building.seat.label == "A")
        try building.makeRoomAgain()
        try building.seat.save { $0.label += "B" }
        #expect(building.seat.label == "AB" && building.seat.room == 1)
        try building.first.pull(from: building.second)
        try building.first.db.refresh()
        #expect(try Seat.find(7, in: building.first.db)?.label == "AB")
    }

    @Test("[47] a row that is shown again by a local change is followed, although the journal has no new entry")
    func localChange() throws {
        let building = try Building(onDelete: "")
        let db = building.second.db
        try building.deleteRoom()
        try Room.create(1, in: db) { $0.name = "Mine" }
        try db.refresh()
        #expect(building.seat.isDeleted)
        let journal = try db.value(Int.self, "SELECT max(seq) FROM _journal")
        try building.second.bringBackHeldRows()
        try db.refresh()
        #expect(try db.value(Int.self, "SELECT max(seq) FROM _journal") == journal)
        #expect(!building.seat.isDeleted && building.seat.label == "A")
    }

    @Test("[47] a reader that missed more notices than are kept reads everything that it holds")
    func missedNotices() throws {
        let building = try Building(onDelete: "")
        let db = building.second.db
        let replica = try Replica.open(at: building.second.path)
        try replica.openMergeConnection().write { db in
            try db.execute(sql: "UPDATE Seat SET label = 'unseen'")
            for _ in 0...VisibilityNotice.limit { try VisibilityNotice.append(table: 99, .update, key: nil, to: db) }
            try VisibilityNotice.prune(db)
        }
        try db.refresh()
        #expect(building.seat.label == "unseen")
        try replica.close()
    }

    @Test("[47] values that the journal held until a migration added their column are followed")
    func joinedColumn() throws {
        let old = "CREATE TABLE Seat (id INTEGER PRIMARY KEY, label TEXT NOT NULL)"
        let first = try ReplicatedDatabase { schema in
            schema.version(1) { try $0.execute(SQL(raw: old)) }
            schema.version(2) { try $0.execute("ALTER TABLE Seat ADD COLUMN room INTEGER") }
        }
        let second = try ReplicatedDatabase { schema in schema.version(1) { try $0.execute(SQL(raw: old)) } }
        try Seat.create(7, in: first.db) {
            $0.room = 5
            $0.label = "A"
        }
        try second.pull(from: first)
        try second.db.execute("ALTER TABLE Seat ADD COLUMN room INTEGER")
        let seat = try #require(try Seat.find(7, in: second.db))
        #expect(seat.room == nil)
        try second.bringBackHeldRows()
        try second.db.refresh()
        #expect(seat.room == 5)
    }
}

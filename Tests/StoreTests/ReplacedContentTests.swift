import Journal
import Store
import TestSupport
import Testing

/// Property: objects, queries and saves follow the file, also when its whole content is replaced under them.
@Suite("Live objects follow the content that a returning replica gets")
struct ReplacedContentTests {
    private func machines() throws -> (here: ReplicatedDatabase, there: ReplicatedDatabase) {
        let declare = { (schema: inout SchemaBuilder) in
            schema.version(1) {
                try $0.execute("CREATE TABLE Seat (id INTEGER PRIMARY KEY, room INTEGER, label TEXT NOT NULL)")
            }
        }
        let (here, there) = (try ReplicatedDatabase(declare), try ReplicatedDatabase(declare))
        try there.db.execute(
            "INSERT INTO Seat (id, label) VALUES (1, 'kept'), (2, 'changed'), (3, 'deleted'), (4, 'unseen')")
        try here.pull(from: there)
        return (here, there)
    }

    @Test("rows that others changed or deleted, what was written unseen, and the next save")
    func follows() async throws {
        let (here, there) = try machines()
        // More commits than the other side has: its positions are smaller.
        for room in 0..<50 { try here.db.execute("UPDATE Seat SET room = \(room) WHERE id = 1") }
        try here.db.refresh()
        let seats = try (1...4).map { try #require(try Seat.find(Int64($0), in: here.db)) }
        for label in ["x", "y", "new"] { try there.db.execute("UPDATE Seat SET label = \(label) WHERE id = 2") }
        try there.db.execute("DELETE FROM Seat WHERE id = 3")
        try there.db.execute("INSERT INTO Seat (id, label) VALUES (9, 'theirs')")
        try there.compact()
        try seats[3].save { $0.label = "mine" }
        try await here.comeBack(by: there)
        try here.db.refresh()
        #expect(seats.map(\.label) == ["kept", "new", "deleted", "mine"])
        #expect(seats[0].room == 49)
        #expect(seats.map(\.isDeleted) == [false, false, true, false])
        try seats[1].save { $0.room = 7 }
        #expect(try Seat.find(9, in: here.db)?.label == "theirs")
        try there.pull(from: here)
        #expect(
            try there.db.values(String.self, "SELECT id || label || coalesce(room, '') FROM Seat ORDER BY id")
                == ["1kept49", "2new7", "4mine", "9theirs"])
        // The file is followed as before.
        try there.db.execute("UPDATE Seat SET label = 'later' WHERE id = 1")
        try here.pull(from: there)
        try here.db.refresh()
        #expect(seats[0].label == "later")
    }
}

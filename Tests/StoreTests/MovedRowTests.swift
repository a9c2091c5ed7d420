import Journal
import Store
import TestSupport
import Testing

/// Property: an object is never another row than before.
@Suite("Live objects follow their row to the key that it gets when another machine has chosen the same key")
struct MovedRowTests {
    private func machines() throws -> (here: ReplicatedDatabase, there: ReplicatedDatabase) {
        let declare = { (schema: inout SchemaBuilder) in
            schema.version(1) {
                try $0.execute("CREATE TABLE Seat (id INTEGER PRIMARY KEY, room INTEGER, label TEXT NOT NULL)")
            }
        }
        let (here, there) = (try ReplicatedDatabase(declare), try ReplicatedDatabase(declare))
        try here.db.execute("INSERT INTO Seat (label) VALUES ('mine')")
        try there.db.execute("INSERT INTO Seat (id, label) VALUES (1, 'theirs')")
        return (here, there)
    }

    @Test("after a look at the file, and in a write that comes first", arguments: [true, false])
    func follows(refreshes: Bool) throws {
        let (here, there) = try machines()
        let mine = try #require(try Seat.find(1, in: here.db))
        try here.pull(from: there)
        if refreshes {
            try here.db.refresh()
            #expect(mine.label == "mine" && mine.id < 0)
        }
        try mine.save { $0.label = "still mine" }
        #expect(mine.label == "still mine" && mine.id < 0)
        let theirs = try #require(try Seat.find(1, in: here.db))
        #expect(theirs.label == "theirs" && theirs !== mine)
        #expect(try Seat.find(mine.id, in: here.db) === mine)
        #expect(
            try here.db.values(String.self, "SELECT label FROM Seat ORDER BY label") == ["still mine", "theirs"])
        try there.pull(from: here)
        #expect(
            try there.db.values(String.self, "SELECT label FROM Seat ORDER BY label") == ["still mine", "theirs"])
    }

    @Test("listeners hear that the row left the key, and of both rows under their keys")
    func events() async throws {
        let (here, there) = try machines()
        let mine = try #require(try Seat.find(1, in: here.db))
        let changes = Seat.changes(in: here.db).makeAsyncIterator()
        try here.pull(from: there)
        try here.db.refresh()
        var kinds: [Int64: Store.RowChange<Seat>.Kind] = [:]
        while kinds[mine.id] == nil {
            for change in try #require(await changes.next()).changes { kinds[change.id] = change.kind }
        }
        #expect(kinds[mine.id] == .inserted)
        #expect(kinds[1] != nil)
    }
}

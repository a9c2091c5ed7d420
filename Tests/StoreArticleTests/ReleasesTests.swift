import Store
import Testing

@Model
final class Post {
    var id: Int64
    var text: String = ""
    @Column(unknown: Status.draft) var status: Status = .draft
}

@Model
final class Ticket {
    static var unreadableRows: UnreadableRows { .skip }
    var id: Int64
    var state: Status = .draft
}

@Suite("Article: two releases side by side", .timeLimit(.minutes(1)))
struct ReleasesTests {
    @Test("[28] a case of a newer release is shown as the chosen one, and kept")
    func unknownCase() throws {
        let db = try Database.inMemory { $0.automatic(Post.self) }
        try db.execute("INSERT INTO Post (id, status) VALUES (1, 'archived')")  // by a newer release
        try Post.find(1, in: db)?.save { $0.text = "corrected" }  // status stays 'archived'
        let stored = try db.value(String.self, "SELECT status FROM Post WHERE id = 1")
        #expect(stored == "archived")
        #expect(try Post.find(1, in: db)?.status == .draft)
        #expect(try Post.where(\.status == .draft).isEmpty(in: db))
    }

    @Test("[28] rows of a newer release are left out where the model says so")
    func skippedRows() throws {
        let db = try Database.inMemory { $0.automatic(Ticket.self) }
        try db.execute("INSERT INTO Ticket (id, state) VALUES (1, 'escalated'), (2, 'draft')")
        let tickets = try Ticket.all(in: db)
        let skipped = db.metrics.skippedRows
        #expect(tickets.map(\.id) == [2] && skipped == 1)
    }
}

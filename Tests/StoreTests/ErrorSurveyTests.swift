import Foundation
import Store
import TestSupport
import Testing

@Suite("What an error says to the one who reads it")
struct ErrorSurveyTests {
    @Model final class Owner {
        var id: UUID
        var name: String = ""
    }

    @Model final class Ticket {
        var id: UUID
        var title: String = ""
        var seat: Int = 0
        var owner: Ref<Owner>?
        @JSON var tags: [String] = []
        static let indexes = [Index(\Columns.seat, unique: true), Index(\Columns.title, \Columns.owner, unique: true)]
        static let foreignKeys = [ForeignKey(\.owner)]
    }

    @Model final class Lap {
        @PrimaryKey var race: Int64
        @PrimaryKey var number: Int
        var seconds: Double = 0
        static func makePrimaryKey() -> ID? { nil }
    }

    /// A wrong type for a title.
    @Model(table: "Ticket") struct TicketRow {
        let id: UUID
        let title: Int
    }

    @Model final class Absent { var id: Int64 }

    let db: Database

    init() throws { db = try Database.inMemory { $0.automatic(Owner.self, Ticket.self, Lap.self) } }

    private struct NothingFailed: Error {}

    private func failure(_ body: () throws -> Void) throws -> StoreError {
        do { try body() } catch let error as StoreError { return error }
        throw NothingFailed()
    }

    private func text(_ id: UUID) -> Value { .text(id.uuidString.lowercased()) }

    @Test("[52] a reference without its row names that row's table, a referenced row its referrer, and both the SQL")
    func foreignKeys() throws {
        let orphan = try failure { try Ticket.create(in: db) { $0.owner = Ref(UUID()) } }
        #expect(orphan.code == .foreignKey && orphan.message == "No row of Owner has the key in owner")
        #expect(orphan.column == "owner" && orphan.hint == "Create that row first.")
        #expect(orphan.sql?.hasPrefix("INSERT") == true)
        let owner = try Owner.create(in: db)
        try Ticket.create(in: db) { $0.owner = Ref(owner) }
        let kept = try failure { try owner.delete() }
        #expect(kept.message == "Rows of Ticket refer to the row by owner" && kept.key == [text(owner.id)])
        #expect(kept.sql?.hasPrefix("DELETE") == true)
    }

    @Test("[52] one value or several are in use already")
    func unique() throws {
        let owner = try Owner.create(in: db)
        let first = try Ticket.create(in: db) { ($0.title, $0.owner) = ("a", Ref(owner)) }
        #expect(try failure { try Ticket.create(in: db) }.hint == "Another row has this value already.")
        let both = try failure { try Ticket.create(in: db) { ($0.title, $0.owner, $0.seat) = ("a", Ref(owner), 1) } }
        #expect(both.hint == "Another row has these values already.")
        let second = try Ticket.create(in: db) { $0.seat = 1 }
        let upserted = try failure { try Ticket.upsert(second.id, in: db) { $0.seat = first.seat } }
        #expect(upserted.key == [text(second.id)])
    }

    @Test("[52] a part of a key that was not set is named, and only this one")
    func partOfKey() throws {
        let one = try failure { try Lap.create(in: db) { $0.race = 1 } }
        #expect(one.message == "A key of this type cannot be generated: number must be set" && one.column == "number")
        #expect(one.hint?.hasPrefix("Set it in the block") == true)
        let both = try failure { _ = try Lap.makeUnsaved(in: db) }
        #expect(both.message.hasSuffix("race, number must be set") && both.hint?.hasPrefix("Set them in the") == true)
        let lap = try Lap.makeUnsaved(Lap.ID(race: 1, number: 2), in: db)
        let taken = try failure { _ = try Lap.makeUnsaved(lap.id, in: db) }
        #expect(taken.key == [.integer(1), .integer(2)])
    }

    @Test("[52] a value of another type is named as a person would, with its row, and with the SQL that Store wrote")
    func otherTypes() throws {
        let ticket = try Ticket.create(in: db)
        let row = try failure { _ = try TicketRow.all(in: db) }
        #expect(row.code == .undecodable && row.table == "Ticket" && row.column == "title")
        #expect(row.key == [text(ticket.id)] && row.sql?.contains("FROM \"Ticket\"") == true)
        #expect(row.message == "The value is a TEXT, but an integer is needed")
        try db.execute("UPDATE Ticket SET tags = 'x'")
        let greatest = try failure { _ = try Ticket.query.max(\.tags, in: db) }
        #expect(greatest.column == "tags" && greatest.sql?.contains("max(") == true)
        #expect(try failure { _ = try Ticket.all(in: db) }.sql?.hasPrefix("SELECT") == true)
    }

    @Test("[52] the description of a result without a property shows nothing of its expression")
    func results() throws {
        for error in [
            try failure { _ = try db.value(Int.self, "SELECT 'secret'") },
            try failure { _ = try db.values(Int.self, "SELECT 'secret'") },
        ] {
            #expect(error.code == .undecodable && error.column == nil && !error.description.contains("secret"))
            #expect(error.hint == "Ask for another type, or for an optional one where NULL may occur.")
        }
        #expect(try failure { _ = try db.value(Int.self, "SELECT 'x' AS size") }.column == "size")
        #expect(try failure { _ = try db.values(Int.self, "SELECT NULL") }.column == nil)
    }

    @Test("[52] an error in SQL says what the program can change, and has the statement")
    func sql() throws {
        let short = try failure { _ = try Ticket.where("seat >").all(in: db) }
        #expect(short.hint == "A condition may end too early: Store writes it in parentheses.")
        let count = try failure { _ = try Ticket.where("seat > ?").all(in: db) }
        #expect(count.code == .argumentCount && count.sql?.contains("seat > ?") == true)
        let column = try failure { _ = try Ticket.where("seet > 1").all(in: db) }
        #expect(column.hint?.hasPrefix("Correct the name in the SQL") == true)
        let table = try failure { _ = try Absent.all(in: db) }
        #expect(table.hint == "Create it in a version of the schema, or name its model in `automatic`.")
    }

    @Test("[52] an operation is named before its first statement too")
    func operations() throws {
        #expect(try failure { try Ticket.query.update(in: db) }.operation == "updating")
        #expect(try failure { _ = try Ticket.query.limit(1).page(size: 1, in: db) }.operation == "fetching")
        #expect(try failure { try Ticket.importJSON("[{\"seet\": 1}]", in: db) }.operation == "importing")
        #expect(try failure { try Ticket.importJSON("[{\"seat\": \"x\"}]", in: db) }.operation == "importing")
        let ticket = try Ticket.create(in: db)
        #expect(try failure { try ticket.save(fields: ["seat": .text("x")]) }.operation == "saving")
        #expect(try failure { try Ticket.create(fields: ["seat": .text("x")], in: db) }.operation == "creating")
    }
}

import Store
import TestSupport
import Testing

@Suite("A model whose table was renamed")
struct RenamedModelTests {
    /// The model under the old name.
    @Model final class Member {
        var id: Int
        var name: String
    }

    @Model final class Contact {
        var id: Int
        var name: String
    }

    private static let before: SQL = "CREATE TABLE Member (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT"

    @Test("still exchanges with machines that use the old name, once the schema declares the renaming")
    func renamed() throws {
        let old = try ReplicatedDatabase { $0.version(1) { try $0.execute(Self.before) } }
        let new = try ReplicatedDatabase { schema in
            schema.renamed("Member", to: "Contact")
            schema.version(1) { try $0.execute(Self.before) }
            schema.version(2) { try $0.execute("ALTER TABLE Member RENAME TO Contact") }
        }
        _ = try Member.create(1, in: old.db) { $0.name = "Ann" }
        try new.pull(from: old)
        #expect(try Contact.find(1, in: new.db)?.name == "Ann")
        _ = try Contact.create(2, in: new.db) { $0.name = "Bob" }
        _ = try new.db.execute("UPDATE Contact SET name = 'Anna' WHERE id = 1")
        try old.pull(from: new)
        let names = try old.db.rows("SELECT name FROM Member ORDER BY id").map(\.values)
        #expect(names == [[.text("Anna")], [.text("Bob")]])
    }

    @Test("is a new table without the declaration: nothing of the old one arrives in it")
    func undeclared() throws {
        let old = try ReplicatedDatabase { $0.version(1) { try $0.execute(Self.before) } }
        let new = try ReplicatedDatabase { schema in
            schema.version(1) { try $0.execute(Self.before) }
            schema.version(2) { try $0.execute("ALTER TABLE Member RENAME TO Contact") }
        }
        _ = try Member.create(1, in: old.db) { $0.name = "Ann" }
        try new.pull(from: old)
        #expect(try Contact.find(1, in: new.db) == nil)
    }
}

import Store
import TestSupport
import Testing

@Suite("Names of the indexes that models declare")
struct IndexNameTests {
    // One table over time.
    @Model(table: "Reader") final class Reader {
        var id: Int64
        var lastname: String = ""
        var visits: Int = 0

        static let indexes = [Index("lastname"), Index("visits", unique: true, where: "visits > 0")]
    }

    @Model(table: "Reader") final class RespelledReader {
        var id: Int64
        var lastName: String = ""
        @Column("Visits") var visits: Int = 0

        static let indexes = [Index("lastName"), Index("visits", unique: true, where: "visits > 0")]
    }

    @Model(table: "Reader") final class DoubledReader {
        var id: Int64
        var lastname: String = ""
        var visits: Int = 0

        static let indexes = [
            Index("lastname"), Index("LASTNAME"), Index("visits", unique: true, where: "visits > 0"), Index("lastname"),
        ]
    }

    @Model(table: "Reader") final class RenamedReader {
        var id: Int64
        var familyName: String = ""
        var visits: Int = 0

        static let indexes = [Index("familyName")]
    }

    @Model(table: "Reader") final class BareReader {
        var id: Int64
        var familyName: String = ""
        var visits: Int = 0
    }

    // Tables and columns whose joined names are equal.
    @Model(table: "a") final class Short {
        var id: Int64
        @Column("b_c") var value: Int = 0

        static let indexes = [Index("value")]
    }

    @Model(table: "a_b") final class Long {
        var id: Int64
        var c: Int = 0

        static let indexes = [Index("c")]
    }

    @Model(table: "t") final class OneColumn {
        var id: Int64
        var b: Int = 0
        var c: Int = 0
        @Column("b_c") var both: Int = 0

        static let indexes = [Index("both")]
    }

    @Model(table: "t") final class TwoColumns {
        var id: Int64
        var b: Int = 0
        var c: Int = 0
        @Column("b_c") var both: Int = 0

        static let indexes = [Index("b", "c")]
    }

    @Model(table: "t") final class OneAndTwo {
        var id: Int64
        var b: Int = 0
        var c: Int = 0
        @Column("b_c") var both: Int = 0

        static let indexes = [Index("both"), Index("b", "c")]
    }

    /// The names that earlier releases give.
    private static let names = ["model_Reader_lastname", "model_Reader_visits_unique_2e51etc4zud4z"]

    let directory = TemporaryDirectory()

    private func open(_ schema: (inout SchemaBuilder) -> Void) throws -> Database {
        try Database(path: directory.file("a.sqlite"), options: TestDatabase.options, schema: schema)
    }

    private func names(_ db: Database) throws -> [String] {
        try db.values(
            String.self,
            "SELECT name FROM sqlite_master WHERE type = 'index' AND substr(name, 1, 6) = 'model_' ORDER BY name")
    }

    /// The columns of each index of a table, separated by commas.
    private func columns(_ table: String, _ db: Database) throws -> Set<String> {
        let names = try db.values(String.self, "SELECT name FROM pragma_index_list(\(table)) WHERE origin = 'c'")
        return try Set(
            names.map { name in
                try db.values(String.self, "SELECT name FROM pragma_index_info(\(name)) ORDER BY seqno")
                    .joined(separator: ",")
            })
    }

    @Test("[35] a property whose name changes only in case keeps its indexes under their names")
    func changedCase() throws {
        let first = try open { $0.automatic(Reader.self) }
        #expect(try names(first) == Self.names)
        try first.close()
        let db = try open { $0.automatic(RespelledReader.self) }
        #expect(db.schemaReport == SchemaReport())
        #expect(try names(db) == Self.names)
        try db.close()
    }

    @Test("[35] an index that is declared twice is one index, in any case of its columns")
    func doubled() throws {
        for _ in 0..<2 {
            let db = try open { $0.automatic(DoubledReader.self) }
            #expect(try names(db) == Self.names)
            try db.close()
        }
    }

    @Test("[35] a renamed column keeps its index, which is dropped with the declaration")
    func renamedColumn() throws {
        let first = try open { $0.automatic(Reader.self) }
        try first.close()
        let rename = SchemaRename.column("lastname", to: "familyName", in: "Reader")
        let second = try open { $0.automatic(RenamedReader.self, renaming: [rename]) }
        #expect(
            second.schemaReport.done == [
                .init(table: "Reader", action: .renamedColumn(from: "lastname", to: "familyName")),
                .init(table: "Reader", action: .droppedIndex(Self.names[1])),
            ])
        #expect(try columns("Reader", second) == ["familyName"])
        try second.close()
        let db = try open { $0.automatic(BareReader.self) }
        #expect(db.schemaReport.done == [.init(table: "Reader", action: .droppedIndex(Self.names[0]))])
        try db.close()
    }

    @Test("[35] indexes of two tables whose names would be the same have two names, and are not made again")
    func twoTables() throws {
        let first = try open { $0.automatic(Short.self, Long.self) }
        #expect(try columns("a", first) == ["b_c"] && columns("a_b", first) == ["c"])
        let names = try names(first)
        #expect(names.count == 2 && names[0] == "model_a_b_c")
        try first.close()
        // In this order the other index has the usual name.
        let db = try open { $0.automatic(Long.self, Short.self) }
        #expect(db.schemaReport == SchemaReport())
        try db.close()
    }

    @Test("[35] indexes of one table have two names too, and a changed declaration keeps its index name")
    func oneTable() throws {
        let first = try open { $0.automatic(OneColumn.self) }
        #expect(try columns("t", first) == ["b_c"])
        try first.close()
        let second = try open { $0.automatic(TwoColumns.self) }
        #expect(try columns("t", second) == ["b,c"] && names(second) == ["model_t_b_c"])
        try second.close()
        let third = try open { $0.automatic(OneAndTwo.self) }
        #expect(try columns("t", third) == ["b_c", "b,c"])
        try third.close()
        let db = try open { $0.automatic(OneAndTwo.self) }
        #expect(db.schemaReport == SchemaReport())
        try db.close()
    }
}

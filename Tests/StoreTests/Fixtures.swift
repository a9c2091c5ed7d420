import Foundation
import Store
import TestSupport

@Model
final class Person {
    var id: Int64
    var name: String = ""
    var age: Int?
    @Column("created_time") var createdTime: Date
    @Transient var isSelected: Bool = false
}

enum Mood: String, ColumnValue, CaseIterable, ColumnPlaceholder {
    case good
    case bad
}

struct Address: Codable, Sendable, Equatable {
    var city: String
    var zip: Int
}

@Model(table: "every thing")
final class Everything {
    @PrimaryKey var key: String
    var int: Int = 0
    var small: Int8 = 0
    var large: UInt64 = 0
    var flag = false
    var double: Double = 0
    var float: Float = 0
    var text: String = ""
    var data: Data = Data()
    var moment: Date = Date(timeIntervalSince1970: 0)
    @Column(as: DateAsMilliseconds.self) var milliseconds: Date = Date(timeIntervalSince1970: 0)
    @Column(as: DateAsText.self) var spelled: Date?
    var uuid: UUID
    @Column(as: UUIDAsBlob.self) var uuidBlob: UUID?
    var url: URL?
    var amount: Decimal = 0
    var mood: Mood
    var maybeMood: Mood?
    @JSON var address: Address?
    @JSON var tags: [String] = []
    @Column("quoted \"name\"") var `default`: String?
}

@Model(table: "order_line")
final class OrderLine {
    @PrimaryKey var order: Int64
    @PrimaryKey @Column("line_name") var line: String
    var count: Int = 1
}

@Model
final class Item {
    var id: UUID
    var title: String = ""
    var owner: Int64?
}

/// A snapshot of rows of `Person`, and of any SELECT with such columns.
@Model(table: "Person")
struct PersonRow: Equatable {
    let id: Int64
    let name: String
    var age: Int?
    var extra: String = "none"
}

/// A database in a directory of its own, which is removed at the end.
final class TestDatabase: Sendable {
    let directory = TemporaryDirectory()
    let db: Database

    var path: String { directory.file("test.sqlite") }

    init() throws {
        db = try Database(
            path: directory.file("test.sqlite"), options: TestDatabase.options, schema: TestDatabase.declareSchema)
    }

    deinit { try? db.close() }

    static var options: Database.Options {
        var options = Database.Options()
        options.durability = .normal
        return options
    }

    static func declareSchema(_ schema: inout SchemaBuilder) {
        schema.version(1) {
            try $0.execute(
                """
                CREATE TABLE Person (
                  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, age INTEGER CHECK (age < 200),
                  created_time REAL NOT NULL);
                CREATE TABLE "every thing" (
                  key TEXT PRIMARY KEY NOT NULL, int, small, large, flag, double REAL, float REAL, text TEXT, data BLOB,
                  moment REAL, milliseconds INTEGER, spelled TEXT, uuid TEXT, uuidBlob BLOB, url TEXT, amount, mood TEXT,
                  maybeMood TEXT, address TEXT, tags TEXT, "quoted ""name\""" TEXT);
                CREATE TABLE order_line (
                  line_name TEXT NOT NULL, "order" INTEGER NOT NULL, count INTEGER NOT NULL,
                  PRIMARY KEY (line_name, "order")) WITHOUT ROWID;
                CREATE TABLE Item (
                  id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL, owner INTEGER REFERENCES Person (id) ON DELETE CASCADE);
                """)
        }
    }

    @discardableResult
    func person(_ name: String, age: Int? = nil) throws -> Person {
        try Person.create(in: db) {
            $0.name = name
            $0.age = age
            $0.createdTime = Date(timeIntervalSince1970: 1_000)
        }
    }

    /// The number of entries in the journal.
    func journalCount() throws -> Int { try db.value(Int.self, "SELECT count(*) FROM _journal") ?? -1 }
}

/// The code of the error that `body` throws; nil when it throws none.
func code(_ body: () throws -> Void) -> StoreError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? StoreError)?.code ?? StoreError.Code(rawValue: "another error: \(error)")
    }
}

struct Refused: Error {}

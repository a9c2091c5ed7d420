import Foundation
import Store
import TestSupport
import Testing

/// Degrees, stored as whole tenths.
enum CelsiusAsTenths: ColumnCoding {
    static func decode(_ value: Value) throws -> Double { try Double(Int64(columnValue: value)) / 10 }
    static func encode(_ degrees: Double) throws -> Value { .integer(Int64((degrees * 10).rounded())) }
}

/// A type of its own that is stored as text.
struct Coordinate: ColumnValue, ColumnPlaceholder, Equatable {
    var x: Int
    var y: Int

    static var columnPlaceholder: Coordinate { Coordinate(x: 0, y: 0) }

    init(x: Int, y: Int) {
        self.x = x
        self.y = y
    }

    init(columnValue: Value) throws {
        let parts = try String(columnValue: columnValue).split(separator: ";").compactMap { Int($0) }
        guard parts.count == 2 else { throw ColumnMismatch("the text is no coordinate") }
        self.init(x: parts[0], y: parts[1])
    }

    var columnValue: Value { .text("\(x);\(y)") }
}

enum Rank: Int, ColumnValue {
    case low = 1
    case high = 10
}

@Model
final class Reading {
    var id: Int64
    var i: Int = 0
    var i8: Int8 = 0
    var i16: Int16 = 0
    var i32: Int32 = 0
    var i64: Int64 = 0
    var u: UInt = 0
    var u8: UInt8 = 0
    var u16: UInt16 = 0
    var u32: UInt32 = 0
    var u64: UInt64 = 0
    var rank: Rank = Rank.low
    var place: Coordinate
    @Column(as: CelsiusAsTenths.self) var degrees: Double = 0
    @Column("felt_like", as: CelsiusAsTenths.self) var felt: Double?
    @JSON var history: [String: [Int]]?
    @Transient var isShown: Bool = false
}

@Suite("Types of properties")
struct TypeTests {
    let test: TestDatabase
    var db: Database { test.db }

    init() throws {
        test = try TestDatabase()
        try test.db.execute(
            """
            CREATE TABLE Reading (
              id INTEGER PRIMARY KEY, i, i8, i16, i32, i64, u, u8, u16, u32, u64, rank, place TEXT, degrees INTEGER,
              felt_like INTEGER, history TEXT, unknown_to_the_model TEXT DEFAULT 'kept')
            """)
    }

    @Test("[28] every integer type keeps its extremes, and a value that does not fit is an error with its column")
    func integers() throws {
        let made = try Reading.create(in: db) {
            ($0.i, $0.i8, $0.i16, $0.i32, $0.i64) = (.min, .min, .min, .min, .min)
            ($0.u, $0.u8, $0.u16, $0.u32, $0.u64) = (UInt(Int64.max), .max, .max, .max, UInt64(Int64.max))
            $0.place = Coordinate(x: 1, y: -2)
            $0.rank = .high
        }
        let id = made.id
        let read = try #require(try db.rows(as: ReadingRow.self, "SELECT * FROM Reading").first)
        #expect(read.i == .min && read.i8 == .min && read.i16 == .min && read.i32 == .min && read.i64 == .min)
        #expect(read.u == UInt(Int64.max) && read.u8 == .max && read.u16 == .max && read.u32 == .max)
        #expect(read.u64 == UInt64(Int64.max) && read.rank == .high && read.place == Coordinate(x: 1, y: -2))
        do {
            try made.save { $0.u64 = .max }
            Issue.record("UInt64.max does not fit")
        } catch let error as StoreError {
            #expect(error.code == .unstorable && error.column == "u64")
        }
        try db.execute("UPDATE Reading SET i8 = 200 WHERE id = \(id)")
        #expect(made.refreshError?.code == .undecodable && made.refreshError?.column == "i8")
        #expect(made.i8 == .min)
    }

    @Test("[29] a custom coding converts both ways, for optional properties and in conditions")
    func codings() throws {
        let made = try Reading.create(in: db) {
            $0.place = Coordinate(x: 0, y: 0)
            $0.degrees = 21.44
            $0.felt = nil
        }
        #expect(made.degrees == 21.4)
        #expect(try db.value(Int.self, "SELECT degrees FROM Reading WHERE felt_like IS NULL") == 214)
        try made.save { $0.felt = -3.5 }
        #expect(try db.value(Int.self, "SELECT felt_like FROM Reading") == -35)
        #expect(try Reading.where(\.felt < -3 && \.degrees >= 21.4).count(in: db) == 1)
        try Reading.where(\.felt != nil).update(.set(\.degrees, to: 0.5), in: db)
        #expect(made.degrees == 0.5)
        #expect(try made.save { $0.degrees = 0.52 } == false)
    }

    @Test("[28] Codable values are JSON, with sorted keys, so that equal values are equal texts")
    func json() throws {
        let made = try Reading.create(in: db) {
            $0.place = Coordinate(x: 0, y: 0)
            $0.history = ["b": [2], "a": [1]]
        }
        #expect(try db.value(String.self, "SELECT history FROM Reading") == #"{"a":[1],"b":[2]}"#)
        #expect(try made.save { $0.history = ["a": [1], "b": [2]] } == false)
        #expect(try Reading.where(\.history == ["a": [1], "b": [2]]).count(in: db) == 1)
    }

    @Test("[30] columns without a property do not change, also in saves")
    func unknownColumns() throws {
        let made = try Reading.create(in: db) { $0.place = Coordinate(x: 0, y: 0) }
        try db.execute("UPDATE Reading SET unknown_to_the_model = 'other'")
        try made.save { $0.i = 5 }
        try Reading.upsert(made.id, in: db) { $0.place = Coordinate(x: 9, y: 9) }
        #expect(made.i == 0 && made.place.x == 9)
        #expect(try db.value(String.self, "SELECT unknown_to_the_model FROM Reading") == "other")
    }

    @Test("[28] a moment reads back equal, in each form of storage, to its stated precision")
    func moments() throws {
        for seconds in [0, 0.1, 1_700_000_000.123456, -62_135_596_800, 253_402_300_799, 700_000_000.000_000_1] {
            let moment = Date(timeIntervalSince1970: seconds)
            let made = try Everything.create(UUID().uuidString, in: db) {
                $0.moment = moment
                $0.milliseconds = moment
                $0.spelled = moment
                $0.uuid = UUID()
                $0.mood = .good
            }
            // Memory shows what a reader gets.
            let key = made.key
            let stored = try #require(
                try db.rows("SELECT moment, milliseconds, spelled FROM \"every thing\" WHERE key = ?", key).first)
            #expect(try stored.value(Date.self, "moment") == made.moment)
            #expect(made.moment.timeIntervalSince1970 == moment.timeIntervalSince1970)
            let milliseconds = try Double(stored.value(Int64.self, "milliseconds"))
            #expect(Date(timeIntervalSince1970: milliseconds / 1_000) == made.milliseconds)
            #expect(abs(made.milliseconds.timeIntervalSince(moment)) <= 0.0005)
            #expect(try made.save { $0.moment = moment } == false)
        }
    }

    @Test("[28] DateAsReferenceSeconds keeps every bit of a date, also bits that the other forms round")
    func exactMoments() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("moments.sqlite")
        let dates: [Date] = [
            Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSinceReferenceDate: 0.1),
            Date(timeIntervalSinceReferenceDate: -0.1), Date(timeIntervalSinceReferenceDate: 1e-9),
            Date(timeIntervalSinceReferenceDate: 123_456_789.123456789),
            Date(timeIntervalSinceReferenceDate: .leastNormalMagnitude), .distantPast, .distantFuture,
        ]
        let rounded = dates.filter { Date(timeIntervalSince1970: $0.timeIntervalSince1970) != $0 }
        #expect(rounded.count >= 3)
        let db = try Database(path: path) { $0.automatic(ExactMoment.self) }
        for (index, date) in dates.enumerated() {
            let made = try ExactMoment.create(Int64(index + 1), in: db) {
                $0.moment = date
                $0.maybe = date
            }
            #expect(made.moment == date && made.maybe == date)
            #expect(try made.save { $0.moment = date } == false)
        }
        #expect(try db.values(String.self, "SELECT DISTINCT typeof(moment) FROM ExactMoment") == ["real"])
        try db.close()
        // Nothing comes from memory.
        let again = try Database(path: path) { $0.automatic(ExactMoment.self) }
        for (index, date) in dates.enumerated() {
            let read = try #require(try ExactMoment.find(Int64(index + 1), in: again))
            #expect(read.moment == date && read.maybe == date)
        }
        try again.close()
    }
}

@Model
final class ExactMoment {
    var id: Int64
    @Column(as: DateAsReferenceSeconds.self) var moment: Date = Date(timeIntervalSinceReferenceDate: 0)
    @Column(as: DateAsReferenceSeconds.self) var maybe: Date?
}

/// The integers of ``Reading`` as values.
@Model(table: "Reading")
struct ReadingRow {
    var i: Int
    var i8: Int8
    var i16: Int16
    var i32: Int32
    var i64: Int64
    var u: UInt
    var u8: UInt8
    var u16: UInt16
    var u32: UInt32
    var u64: UInt64
    var rank: Rank
    var place: Coordinate
}

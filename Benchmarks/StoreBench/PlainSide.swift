import BenchSupport
import GRDBSQLite

/// SQLite's C API only, from and to a struct: the reference of every figure.
struct PlainPerson {
    var id: Int64
    var name: String
    var email: String?
    var age: Int?
    var score: Double?
    var created: Double?
}

final class PlainSide {
    private let connection: OpaquePointer

    init(path: String) throws {
        var connection: OpaquePointer?
        guard sqlite3_open(path, &connection) == SQLITE_OK, let connection else {
            throw BenchError("cannot open \(path)")
        }
        self.connection = connection
        try execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
    }

    deinit { sqlite3_close_v2(connection) }

    func execute(_ sql: String) throws {
        guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
    }

    func fetch() throws -> [PlainPerson] {
        let statement = try prepare("SELECT id, name, email, age, score, created FROM person")
        defer { sqlite3_finalize(statement) }
        var people: [PlainPerson] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            people.append(
                PlainPerson(
                    id: sqlite3_column_int64(statement, 0), name: String(cString: sqlite3_column_text(statement, 1)),
                    email: isNull(statement, 2) ? nil : String(cString: sqlite3_column_text(statement, 2)),
                    age: isNull(statement, 3) ? nil : Int(sqlite3_column_int64(statement, 3)),
                    score: isNull(statement, 4) ? nil : sqlite3_column_double(statement, 4),
                    created: isNull(statement, 5) ? nil : sqlite3_column_double(statement, 5)))
        }
        return people
    }

    func insert(_ sample: Sample) throws {
        let statement = try prepare(
            "INSERT INTO person (id, name, email, age, score, created) VALUES (?, ?, ?, ?, ?, ?)")
        defer { sqlite3_finalize(statement) }
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        try execute("BEGIN IMMEDIATE")
        for index in 0..<sample.count {
            sqlite3_bind_int64(statement, 1, sample.id(index))
            sqlite3_bind_text(statement, 2, sample.names[index], -1, copied)
            sqlite3_bind_text(statement, 3, sample.emails[index], -1, copied)
            sqlite3_bind_int64(statement, 4, Int64(sample.age(index)))
            sqlite3_bind_double(statement, 5, sample.score(index))
            sqlite3_bind_double(statement, 6, sample.created(index))
            guard sqlite3_step(statement) == SQLITE_DONE else { throw failure() }
            sqlite3_reset(statement)
        }
        try execute("COMMIT")
    }

    private func prepare(_ sql: String) throws -> OpaquePointer {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
            throw failure()
        }
        return statement
    }

    private func isNull(_ statement: OpaquePointer, _ column: Int32) -> Bool {
        sqlite3_column_type(statement, column) == SQLITE_NULL
    }

    private func failure() -> BenchError { BenchError(String(cString: sqlite3_errmsg(connection))) }
}

import Foundation
import GRDB
import GRDBSQLite
import Journal
import Synchronization

/// Evaluates expressions in a database in memory where the time and the source of randomness are given.
final class DefaultEvaluator {
    /// What the functions of one evaluation draw from.
    private struct Source: Sendable {
        var milliseconds: Int64 = 0
        var seed: [UInt8] = []
        private var count: UInt64 = 0

        init() {}

        init(_ insert: WriteOrder, column: String) {
            milliseconds = insert.stamp.milliseconds
            seed = insert.origin.bytes + Source.bytes(UInt64(bitPattern: insert.stamp.rawValue)) + Array(column.utf8)
        }

        /// Returns the next bytes of SHA-256 in counter mode.
        mutating func draw(_ length: Int) -> [UInt8] {
            var drawn: [UInt8] = []
            while drawn.count < length {
                drawn += SHA256.digest(of: seed + Source.bytes(count))
                count += 1
            }
            return Array(drawn.prefix(length))
        }

        private static func bytes(_ number: UInt64) -> [UInt8] {
            (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        }
    }

    /// The most bytes that randomblob() gives here. A longer one fails the evaluation.
    private static let mostBytes: Int64 = 1 << 20

    private let queue: DatabaseQueue
    private let source: CurrentSource

    /// The source of the running evaluation, shared with the functions.
    private final class CurrentSource: Sendable {
        let value = Mutex(Source())
    }

    /// - Throws: Errors of SQLite, when there is no memory.
    init() throws {
        // Its date functions are SQLite's own.
        let plain = try DatabaseQueue()
        let source = CurrentSource()
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            for function in DefaultEvaluator.functions(source, dates: plain) { db.add(function: function) }
        }
        queue = try DatabaseQueue(configuration: configuration)
        self.source = source
    }

    /// Compiles an expression that names no column.
    ///
    /// - Returns: nil when it cannot be compiled here, for example because a function is missing.
    func prepare(_ sql: String) -> RawStatement? {
        queue.inDatabase { try? RawStatement($0, "SELECT \(sql)") }
    }

    /// Returns the value of the expression for an insert.
    ///
    /// - Parameter statement: A statement of ``prepare(_:)``.
    /// - Returns: nil when the evaluation fails, as it would at each insert that leaves the column out.
    func evaluate(_ statement: RawStatement, _ insert: WriteOrder, column: String) -> Value? {
        source.value.withLock { $0 = Source(insert, column: column) }
        return queue.inDatabase { _ in
            defer { statement.reset() }
            guard (try? statement.step()) == true else { return nil }
            return statement.column(0)
        }
    }

    // MARK: - Functions

    /// The functions whose results differ from one use to the next
    /// (https://sqlite.org/lang_datefunc.html, https://sqlite.org/lang_corefunc.html#random).
    private static func functions(_ source: CurrentSource, dates: DatabaseQueue) -> [DatabaseFunction] {
        // Where the argument with the time stands.
        let dated = [
            ("date", 0), ("time", 0), ("datetime", 0), ("julianday", 0), ("unixepoch", 0), ("strftime", 1),
        ].map { name, place in
            DatabaseFunction(name, argumentCount: nil, pure: false) { arguments in
                try call(name, arguments, timeAt: place, source, dates)
            }
        }
        // CURRENT_TIMESTAMP and its like are calls of functions with these names.
        let keywords = [("current_timestamp", "datetime"), ("current_date", "date"), ("current_time", "time")].map {
            name, function in
            DatabaseFunction(name, argumentCount: 0, pure: false) { _ in
                try call(function, [], timeAt: 0, source, dates)
            }
        }
        let random = DatabaseFunction("random", argumentCount: 0, pure: false) { _ in
            source.value.withLock { $0.draw(8) }.reduce(Int64(0)) { $0 << 8 | Int64($1) }
        }
        let randomBlob = DatabaseFunction("randomblob", argumentCount: 1, pure: false) { arguments in
            let length = Int64.fromDatabaseValue(arguments[0]) ?? 1
            guard length <= mostBytes else { throw DatabaseError(resultCode: .SQLITE_TOOBIG) }
            return Data(source.value.withLock { $0.draw(Int(max(1, length))) })
        }
        return dated + keywords + [random, randomBlob]
    }

    /// Calls a date function of SQLite with the source's time in place of the present one.
    private static func call(
        _ name: String, _ given: [DatabaseValue], timeAt place: Int, _ source: CurrentSource, _ dates: DatabaseQueue
    ) throws -> DatabaseValue {
        var arguments = given
        let isNow = arguments.count > place && String.fromDatabaseValue(arguments[place])?.lowercased() == "now"
        if arguments.count == place || isNow {
            let seconds = Double(source.value.withLock(\.milliseconds)) / 1_000
            arguments.replaceSubrange(
                place..<(isNow ? place + 1 : place), with: [seconds.databaseValue, "unixepoch".databaseValue])
        }
        let parameters = arguments.map { _ in "?" }.joined(separator: ", ")
        return try dates.read { db in
            try DatabaseValue.fetchOne(
                db, sql: "SELECT \(name)(\(parameters))", arguments: StatementArguments(arguments))
        } ?? .null
    }
}

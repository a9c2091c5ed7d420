import Foundation
import GRDB
import GRDBSQLite
import Journal

/// A collation and functions with which SQL orders and computes with decimal numbers that are stored as text.
///
/// Without them SQLite orders '9' after '10' and computes with doubles. The names are those of SQLite's own
/// extension for decimal numbers (https://sqlite.org/floatingpoint.html#the_decimal_c_extension), so raw SQL
/// may use them too: `ORDER BY price COLLATE decimal`.
enum DecimalFunctions {
    static let collation = "decimal"

    static func register(on db: GRDB.Database) throws {
        let code = sqlite3_create_collation_v2(
            db.sqliteConnection, collation, SQLITE_UTF8, nil,
            { _, count, a, otherCount, b in
                Int32(
                    truncatingIfNeeded: DecimalText.order(
                        UnsafeRawBufferPointer(start: a, count: Int(count)),
                        UnsafeRawBufferPointer(start: b, count: Int(otherCount))))
            }, nil)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        db.add(function: function("decimal_add", NSDecimalAdd))
        db.add(function: function("decimal_sub", NSDecimalSubtract))
        db.add(function: function("decimal_mul", NSDecimalMultiply))
    }

    private typealias Operation =
        @Sendable (
            UnsafeMutablePointer<Decimal>, UnsafePointer<Decimal>, UnsafePointer<Decimal>, NSDecimalNumber.RoundingMode
        ) -> NSDecimalNumber.CalculationError

    private static func function(_ name: String, _ operation: @escaping Operation) -> DatabaseFunction {
        DatabaseFunction(name, argumentCount: 2, pure: true) { arguments in
            if arguments.contains(where: \.isNull) { return nil }
            var result = Decimal()
            var (a, b) = (try Decimal(columnValue: Value(arguments[0])), try Decimal(columnValue: Value(arguments[1])))
            switch operation(&result, &a, &b, .plain) {
            case .noError: return try result.columnValue.databaseValue
            case .lossOfPrecision:
                throw ColumnMismatch("The result of \(name) has more digits than a Decimal can hold")
            default: throw ColumnMismatch("The result of \(name) is greater than a Decimal can hold")
            }
        }
    }
}

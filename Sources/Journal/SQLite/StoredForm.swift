import GRDB

/// Converts values as the columns of a table do when they are written: to another storage class with the same
/// content (https://sqlite.org/datatype3.html, section 3).
package final class StoredForm {
    private let affinities: [Affinity]
    private let db: Database
    private var casts: [Affinity: RawStatement] = [:]

    /// Use it inside of the access that hands out `db`.
    package init(_ table: TableInspection, _ db: Database) {
        affinities = table.stored.map { Affinity($0, isStrict: table.isStrict) }
        self.db = db
    }

    /// For ``stored(_:by:)``, which needs no table.
    package init(_ db: Database) {
        affinities = []
        self.db = db
    }

    /// Returns the value that a read returns after `value` was written.
    ///
    /// - Parameter column: The index of the column in ``TableInspection/stored``.
    /// - Throws: ``JournalError`` with the code for the SQLite error.
    package func stored(_ value: Value, in column: Int) throws -> Value { try stored(value, by: affinities[column]) }

    /// Returns the value that a column with an affinity stores for `value`.
    ///
    /// - Throws: ``JournalError`` with the code for the SQLite error.
    package func stored(_ value: Value, by affinity: Affinity) throws -> Value {
        switch (affinity, value) {
        case (.text, .integer), (.text, .real): return try cast(value, to: affinity)
        case (.numeric, .text(let bytes)), (.real, .text(let bytes)):
            return Affinity.looksNumeric(bytes) ? try cast(value, to: affinity) : value
        case (.numeric, .real(let number)):
            // The two extremes stay REAL, because converting them back could not distinguish them from their
            // neighbours.
            guard let integer = Int64(exactly: number), integer != .min, integer != .max else { return value }
            return .integer(integer)
        case (.real, .integer(let integer)): return .real(Double(integer))
        // SQLite stores an integral REAL as an integer, which has no -0.
        case (.real, .real(let number)) where number == 0: return .real(0)
        default: return value
        }
    }

    private func cast(_ value: Value, to affinity: Affinity) throws -> Value {
        let statement = try casts[affinity] ?? RawStatement(db, "SELECT \(affinity.cast("?"))")
        casts[affinity] = statement
        try statement.bind(value, at: 1)
        defer { statement.reset() }
        return try statement.step() ? statement.column(0) : value
    }
}

import GRDB

/// The statements that append received changes to `_journal`, for shapes with one number of columns.
///
/// Starting a statement costs as much as two rows, so rows are inserted in batches. SQLite assigns the
/// positions, each one greater than the newest (https://sqlite.org/autoinc.html). It would have to look up a
/// given position first.
final class JournalInsert {
    private let db: Database
    private let columnCount: Int
    private let maskWords: Int
    /// The rows that ``many`` inserts at once.
    private let batchSize: Int
    private let one: RawStatement
    private var many: RawStatement?

    private static let mostRows = 16
    /// SQLite allows at least twice as many parameters (https://sqlite.org/limits.html, point 9).
    private static let mostParameters = 16_000

    init(_ db: Database, columns count: Int) throws {
        self.db = db
        columnCount = count
        maskWords = JournalSchema.maskWords(forColumns: count)
        batchSize = max(1, min(JournalInsert.mostRows, JournalInsert.mostParameters / (6 + maskWords + count)))
        one = try JournalInsert.prepare(db, columns: count, rows: 1)
    }

    /// Appends changes as consecutive versions of one origin.
    ///
    /// - Parameters:
    ///   - shapes: The shapes in which ``Change/shape`` is an index. Those of `changes` have this statement's
    ///     number of columns.
    ///   - values: The values, in which ``Change/values`` is a range of indices.
    func run(
        _ changes: ArraySlice<Change>, shapes: [ShapeRegistry.Entry], values: [Value], origin: Int64, version: Int64
    ) throws {
        var version = version
        var rest = changes
        while !rest.isEmpty {
            let rows = batchSize > 1 && rest.count >= batchSize ? batchSize : 1
            let statement = rows == 1 ? one : try batchStatement()
            try statement.bind(origin, at: 1)
            // In place, because copying a change out of the array would retain and release its references.
            try rest.withUnsafeBufferPointer { rest in
                for row in 0..<rows {
                    try bind(
                        rest[row], shapes: shapes, values: values, version: version + Int64(row), row, to: statement)
                }
            }
            try statement.run()
            version += Int64(rows)
            rest = rest.dropFirst(rows)
        }
    }

    // MARK: - Pieces

    private func batchStatement() throws -> RawStatement {
        let statement = try many ?? JournalInsert.prepare(db, columns: columnCount, rows: batchSize)
        many = statement
        return statement
    }

    /// Prepares an insert of `rows` rows. Parameter 1 is the origin of all rows. Then each row has its other
    /// columns, in the order in which ``bind(_:shapes:values:version:_:to:)`` binds them.
    private static func prepare(_ db: Database, columns count: Int, rows: Int) throws -> RawStatement {
        let masks = (0..<JournalSchema.maskWords(forColumns: count)).map { JournalSchema.maskColumn($0) }
        let names = ["version", "tx", "shape", "op", "life", "stamp"] + masks + (0..<count).map { "v\($0)" }
        let parameters = "(?1" + names.map { _ in ", ?" }.joined() + ")"
        return try RawStatement(
            db,
            "INSERT INTO _journal (origin, \(names.joined(separator: ", "))) VALUES "
                + Array(repeating: parameters, count: rows).joined(separator: ", "))
    }

    private func bind(
        _ change: borrowing Change, shapes: [ShapeRegistry.Entry], values: [Value], version: Int64, _ row: Int,
        to statement: RawStatement
    ) throws {
        let first = Int32(2 + row * (6 + maskWords + columnCount))
        let keyCount = shapes[change.shape].shape.keyCount
        try statement.bind(version, at: first)
        if change.endsTransaction {
            try statement.bind(1, at: first + 1)
        } else {
            try statement.bindNull(at: first + 1)
        }
        try statement.bind(shapes[change.shape].id, at: first + 2)
        try statement.bind(change.operation.rawValue, at: first + 3)
        if change.life == 1 {
            try statement.bindNull(at: first + 4)
        } else {
            try statement.bind(change.life, at: first + 4)
        }
        try statement.bind(change.stamp.rawValue, at: first + 5)
        let carriesAll = change.operation == .insert && change.values.count == columnCount
        try bindMask(of: change, carriesAll: carriesAll, from: first + 6, to: statement)
        let firstValue = first + 6 + Int32(maskWords)
        if carriesAll { return try statement.bindBorrowed(values[change.values], from: firstValue) }
        var next = change.values.lowerBound
        for column in 0..<columnCount {
            if column < keyCount || change.mask.contains(column) {
                try statement.bindBorrowed(values[next], at: firstValue + Int32(column))
                next += 1
            } else {
                try statement.bindNull(at: firstValue + Int32(column))
            }
        }
    }

    private func bindMask(
        of change: borrowing Change, carriesAll: Bool, from first: Int32, to statement: RawStatement
    ) throws {
        if carriesAll || change.operation == .delete {
            for word in 0..<maskWords { try statement.bindNull(at: first + Int32(word)) }
            if change.isKeyChange { try statement.bind(1, at: first) }
        } else {
            for word in 0..<maskWords {
                try statement.bind(Int64(bitPattern: change.mask.word(word)), at: first + Int32(word))
            }
        }
    }
}

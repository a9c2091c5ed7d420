import GRDB
import Journal

/// A row that matches a full-text search.
public struct SearchHit<M: Model>: Sendable {
    /// The live object of the row.
    public let object: M
    /// FTS5's bm25 score: smaller is better, and most scores are negative
    /// (https://sqlite.org/fts5.html#the_bm25_function).
    public let rank: Double
    /// The part of the text around the matched words, with marks around them.
    public let snippet: String
}

/// The marks that a search puts around matched words, and the length of a snippet.
public struct SearchMarks: Hashable, Sendable {
    /// The text before each matched word.
    public var start: String
    /// The text after each matched word.
    public var end: String
    /// The text in place of omitted text.
    public var ellipsis: String
    /// The maximum number of words in a snippet, 1...64.
    public var words: Int

    /// Creates marks.
    ///
    /// - Parameters:
    ///   - start: The text before each matched word.
    ///   - end: The text after each matched word.
    ///   - ellipsis: The text in place of omitted text.
    ///   - words: The maximum number of words in a snippet. Less than 1 counts as 1; more than 64, FTS5's own
    ///     limit, counts as 64 (https://sqlite.org/fts5.html#the_snippet_function).
    public init(start: String = "[", end: String = "]", ellipsis: String = "…", words: Int = 16) {
        self.start = start
        self.end = end
        self.ellipsis = ellipsis
        self.words = min(max(words, 1), 64)
    }
}

extension Model {
    /// Searches a full-text index of the model's table, best hits first.
    ///
    /// A hit always has the text that the index matched: index entries that are older than their rows are
    /// left out, for instance in a database that is opened for reading only.
    ///
    /// ```swift
    /// let hits = try Article.search("local first", weights: ["title": 5], in: db)
    /// let new = try Article.search("local first", where: \.published > lastWeek, limit: 10, in: db)
    /// ```
    ///
    /// - Parameters:
    ///   - query: What to search for. A plain string literal means all its words.
    ///   - condition: Which rows can be hits; nil for all. `limit` and `offset` count only these.
    ///   - name: The name of the index. Required when the table has several.
    ///   - weights: The weight of a match by column or property; 1 for those that are not named.
    ///   - marks: The marks around matched words, and the length of a snippet.
    ///   - limit: The maximum number of hits, 0 or more.
    ///   - offset: The number of best hits to skip.
    ///   - database: The database to search.
    /// - Returns: The hits; empty when nothing matches, and for a query without words.
    /// - Throws: ``StoreError``: `missingTable` when the table has no text index of that name, or has several
    ///   and `name` is nil; `missingColumn` for a weight of a column that the index does not have, or a
    ///   weight that is not a finite number; `sql` for a syntax error in a raw query; `undecodable` for a row
    ///   that does not fit the model; `unstorable` for a value in the condition that its column cannot store;
    ///   `closed`.
    public static func search(
        _ query: TextQuery, where condition: Condition<Self>? = nil, index name: String? = nil,
        weights: [String: Double] = [:], marks: SearchMarks = SearchMarks(), limit: Int = 100, offset: Int = 0,
        in database: Database
    ) throws -> [SearchHit<Self>] {
        try searchRows(
            query, condition, index: name, weights: weights, limit: limit, offset: offset, in: database
        ) { name, _ in
            SQL("snippet(\(raw: name), -1, \(marks.start), \(marks.end), \(marks.ellipsis), \(marks.words))")
        } hit: { object, rank, texts in
            SearchHit(object: object, rank: rank, snippet: texts.first ?? "")
        }
    }

    /// Searches like `search`, and returns the whole text of each indexed column, by column name, with marks around
    /// the matched words.
    ///
    /// - Parameters:
    ///   - query: What to search for. A plain string literal means all its words.
    ///   - condition: Which rows can be hits; nil for all.
    ///   - name: The name of the index. Required when the table has several.
    ///   - marks: The marks around matched words. Its `ellipsis` and `words` have no effect here.
    ///   - limit: The maximum number of hits, 0 or more.
    ///   - database: The database to search.
    /// - Returns: The best hits first; empty when nothing matches, and for a query without words.
    /// - Throws: ``StoreError``: `missingTable` when the table has no text index of that name, or has several
    ///   and `name` is nil; `sql` for a syntax error in a raw query; `undecodable` for a row that does not
    ///   fit the model; `closed`.
    public static func highlights(
        _ query: TextQuery, where condition: Condition<Self>? = nil, index name: String? = nil,
        marks: SearchMarks = SearchMarks(), limit: Int = 100, in database: Database
    ) throws -> [(object: Self, texts: [String: String])] {
        var columns: [String] = []
        return try searchRows(
            query, condition, index: name, weights: [:], limit: limit, offset: 0, in: database
        ) { name, index in
            columns = index.columns
            let parts = columns.indices.map { SQL("highlight(\(raw: name), \($0), \(marks.start), \(marks.end))") }
            return parts.dropFirst().reduce(parts[0]) { $0 + ", " + $1 }
        } hit: { object, _, texts in
            (object, Dictionary(zip(columns, texts), uniquingKeysWith: { first, _ in first }))
        }
    }

    private static func searchRows<Hit>(
        _ query: TextQuery, _ condition: Condition<Self>?, index name: String?, weights: [String: Double], limit: Int,
        offset: Int,
        in database: Database, texts: (String, TextIndexDefinition) -> SQL, hit: (Self, Double, [String]) -> Hit
    ) throws -> [Hit] {
        if query.expression.isEmpty { return [] }
        try database.prepareSearch(schema.table)
        do {
            return try database.access(operation: "searching", table: schema.table) { context in
                let index = try TextIndexStore(context.db).index(name, of: schema.table)
                guard let table = try TableInspection.named(schema.table, context.db) else { return [] }
                let quotedName = SQLText.quote(identifier: index.name)
                let factors = try index.weights(weights, schema)
                let selection = schema.columns.map { "\(schema.quotedTable).\(SQLText.quote(identifier: $0.name))" }
                let rank: SQL = SQL("bm25(\(raw: quotedName)\(raw: factors.map { ", \($0)" }.joined()))")
                // A query of its own: the names of columns in it mean the table's, not those of the index.
                let filter: SQL =
                    try condition.map { condition in
                        try SQL(
                            raw: " AND EXISTS (SELECT 1 FROM \(schema.quotedTable) WHERE \(index.isRow(table)) AND ")
                            + condition.template.sql() + ")"
                    } ?? ""
                let sql =
                    SQL(raw: "SELECT \(selection.joined(separator: ", ")), ") + rank + " AS \"_rank\", "
                    + texts(quotedName, index)
                    + SQL(raw: " FROM \(index.join(table)) WHERE \(quotedName) MATCH ")
                    + SQL("\(query.expression)") + filter
                    + SQL(
                        " ORDER BY \"_rank\", \(raw: quotedName).rowid LIMIT \(limit) OFFSET \(offset)"
                    )
                // Its text names Tandem's table of text indexes, and it is the program's search.
                let rows = try StatementOwner.program.runs {
                    try context.prepare(sql.text).run { statement in
                        try statement.bind(sql.bindings)
                        var rows: [(fields: Fields, rank: Double, texts: [String])] = []
                        while try statement.step() {
                            let values = statement.values.dropFirst(schema.columns.count)
                            let texts = values.dropFirst().map { (try? String(columnValue: $0)) ?? "" }
                            let rank = try values.first.map { try Double(columnValue: $0) } ?? 0
                            do {
                                rows.append((try statement.decode(Self.self) { try Fields(_row: $0) }, rank, texts))
                            } catch { try context.skip(Self.self, error) }
                        }
                        return rows
                    }
                }
                // `objects(for:)` leaves out rows that a newer commit has deleted, so hits are matched by
                // key.
                let objects = try context.objects(for: rows.map(\.fields), of: Self.self)
                let byKey = Dictionary(objects.map { ($0._exactKey, $0) }, uniquingKeysWith: { first, _ in first })
                return rows.compactMap { row in
                    byKey[row.fields.exactKey].map { hit($0, row.rank, row.texts) }
                }
            }
        } catch let error as StoreError {
            throw error.during("searching", table: schema.table)
        }
    }
}

extension TextIndexDefinition {
    /// The weights in the order of the index's columns.
    fileprivate func weights(_ weights: [String: Double], _ schema: ModelSchema) throws -> [Double] {
        var factors = columns.map { _ in 1.0 }
        for (name, factor) in weights {
            let column = try schema.columnName(of: name)
            guard let position = columns.firstIndex(where: { SQLText.same($0, column) }), factor.isFinite else {
                throw StoreError(
                    .missingColumn,
                    "The text index \(self.name) has no column \(column), or its weight is not a finite number",
                    hint: StoreError.names(("column", "columns"), columns), table: table, column: column)
            }
            factors[position] = factor
        }
        return factors
    }
}

extension TextIndexStore {
    /// Finds the index of this name, or the table's only index.
    fileprivate func index(_ name: String?, of table: String) throws -> TextIndexDefinition {
        let indexes = try all().filter { SQLText.same($0.table, table) }
        if let name {
            if let index = indexes.first(where: { SQLText.same($0.name, name) }) { return index }
        } else if indexes.count == 1 {
            return indexes[0]
        }
        throw StoreError(
            .missingTable,
            indexes.count > 1 && name == nil
                ? "The table has several text indexes: \(indexes.map(\.name).joined(separator: ", "))"
                : "The table has no text index\(name.map { " named \($0)" } ?? "")",
            hint: indexes.isEmpty
                ? "Declare `textIndexes` in the model, or create one with `textIndex(_:on:)` in a version."
                : "Name the index to search.",
            table: table)
    }
}

extension Database {
    /// Updates the text indexes before a search, as far as the calling thread's access allows.
    fileprivate func prepareSearch(_ table: String) throws {
        switch ThreadContext.access(to: self) {
        case nil:
            if isClosed { throw failed(StoreError.closed, operation: "searching", table: table) }
            try followTextIndexes()
        case let context as WriteContext:
            try context.confirm()
            let store = TextIndexStore(context.db)
            if try store.isBehind(checked: 0) { try store.follow() }
        // A snapshot cannot change; the search leaves out stale hits.
        default: return
        }
    }
}

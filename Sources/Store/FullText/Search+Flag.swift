// Searches among the rows in which a column is true: `Article.search("local first", where: \.isPublished, in: db)`.

extension Model {
    /// Searches like `search` with a condition, among the rows in which a column is true.
    ///
    /// - Throws: What the other search throws.
    public static func search<Flag: FlagColumnValue>(
        _ query: TextQuery, where flag: ColumnPath<Self, Flag>, index name: String? = nil,
        weights: [String: Double] = [:], marks: SearchMarks = SearchMarks(), limit: Int = 100, offset: Int = 0,
        in database: Database
    ) throws -> [SearchHit<Self>] {
        try search(
            query, where: Condition(flag: flag), index: name, weights: weights, marks: marks, limit: limit,
            offset: offset, in: database)
    }

    /// Searches like `highlights` with a condition, among the rows in which a column is true.
    ///
    /// - Throws: What the other search throws.
    public static func highlights<Flag: FlagColumnValue>(
        _ query: TextQuery, where flag: ColumnPath<Self, Flag>, index name: String? = nil,
        marks: SearchMarks = SearchMarks(), limit: Int = 100, in database: Database
    ) throws -> [(object: Self, texts: [String: String])] {
        try highlights(
            query, where: Condition(flag: flag), index: name, marks: marks, limit: limit, in: database)
    }
}

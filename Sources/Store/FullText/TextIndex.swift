/// An index for full-text search over text columns of a table (https://sqlite.org/fts5.html), declared at a model or in a
/// version of the schema (``SchemaStep/textIndex(_:on:)``).
///
/// ```swift
/// @Model
/// final class Article {
///     var id: Int64
///     var title: String = ""
///     var body: String = ""
///
///     static let textIndexes = [TextIndex("title", "body", tokenizer: .english)]
/// }
/// for hit in try Article.search("local first", in: db) { print(hit.object.title, hit.snippet) }
/// ```
///
/// It follows every write: those of programs on this file by triggers, those that arrive from peers by the journal.
public struct TextIndex: Hashable, Codable, Sendable {
    /// How text is cut into words (https://sqlite.org/fts5.html#tokenizers).
    public struct Tokenizer: Hashable, Codable, Sendable {
        /// The value of FTS5's `tokenize` option.
        public let sql: String

        /// Another one, in FTS5's own words.
        public init(sql: String) { self.sql = sql }

        /// Words of any language; case and diacritics do not matter.
        public static let words = Tokenizer(sql: "unicode61 remove_diacritics 2")
        /// Like ``words``; "running" finds "run".
        public static let english = Tokenizer(sql: "porter unicode61 remove_diacritics 2")
        /// Every three characters in a row: finds parts of words, from three characters on.
        public static let substrings = Tokenizer(sql: "trigram")
    }

    /// Names of properties, or of columns.
    public let columns: [String]
    /// How text is cut into words.
    public let tokenizer: Tokenizer
    /// Lengths of the starts of words that are indexed too, so that a search by prefix is fast.
    public let prefixes: [Int]
    private let givenName: String?

    /// - Parameters:
    ///   - columns: Names of properties, or of columns.
    ///   - tokenizer: What counts as a word.
    ///   - prefixes: Lengths of the starts of words that are indexed too, so that a search by prefix is fast: 1...999 characters,
    ///     31 lengths at most (https://sqlite.org/fts5.html#prefix_indexes). Others fail where the index is made.
    ///   - name: The name of the FTS5 table; `<table>_search` when it is nil. Needed for a second index of a table.
    public init(_ columns: String..., tokenizer: Tokenizer = .words, prefixes: [Int] = [], name: String? = nil) {
        self.columns = columns
        self.tokenizer = tokenizer
        self.prefixes = prefixes
        givenName = name
    }

    /// The name of the FTS5 table, which SQL may query too.
    public func name(table: String) -> String { givenName ?? "\(table)_search" }
}

/// A full-text search index over text columns of a table (https://sqlite.org/fts5.html), declared in a model
/// or in a version of the schema (``SchemaStep/textIndex(_:on:)``).
///
/// ```swift
/// @Model
/// final class Article {
///     var id: Int64
///     var title: String = ""
///     var body: String = ""
///
///     static let textIndexes = [TextIndex(\.title, \.body, tokenizer: .english)]
/// }
/// for hit in try Article.search("local first", in: db) { print(hit.object.title, hit.snippet) }
/// ```
///
/// The index follows every write: triggers index the writes of programs on this file, and the journal shows
/// which rows arrived from peers.
public struct TextIndex: Hashable, Codable, Sendable {
    /// How text is split into words (https://sqlite.org/fts5.html#tokenizers).
    public struct Tokenizer: Hashable, Codable, Sendable {
        /// The value of FTS5's `tokenize` option.
        public let sql: String

        /// A tokenizer given as the value of FTS5's `tokenize` option.
        public init(sql: String) { self.sql = sql }

        /// Words of any language. Case and diacritics are ignored.
        public static let words = Tokenizer(sql: "unicode61 remove_diacritics 2")
        /// Like ``words``, with English word stems: "running" finds "run".
        public static let english = Tokenizer(sql: "porter unicode61 remove_diacritics 2")
        /// Every sequence of three characters: finds parts of words that have at least three characters.
        public static let substrings = Tokenizer(sql: "trigram")
    }

    /// Names of properties or columns.
    public let columns: [String]
    /// How text is split into words.
    public let tokenizer: Tokenizer
    /// The lengths, in characters, of the prefixes of words that are indexed too, which makes prefix searches
    /// fast.
    public let prefixes: [Int]
    private let givenName: String?

    /// Creates the declaration of an index.
    ///
    /// - Parameters:
    ///   - columns: Names of properties or columns.
    ///   - tokenizer: How text is split into words.
    ///   - prefixes: The lengths of the prefixes of words that are indexed too, which makes prefix searches
    ///     fast: at most 31 lengths of 1...999 characters (https://sqlite.org/fts5.html#prefix_indexes).
    ///     Other values fail when the index is created.
    ///   - name: The name of the FTS5 table; `<table>_search` when nil. Required for a second index of a
    ///     table.
    public init(_ columns: String..., tokenizer: Tokenizer = .words, prefixes: [Int] = [], name: String? = nil) {
        self.init(names: columns, tokenizer: tokenizer, prefixes: prefixes, name: name)
    }

    init(names: [String], tokenizer: Tokenizer, prefixes: [Int], name: String?) {
        columns = names
        self.tokenizer = tokenizer
        self.prefixes = prefixes
        givenName = name
    }

    /// The name of the FTS5 table, which SQL can query too.
    public func name(table: String) -> String { givenName ?? "\(table)_search" }
}

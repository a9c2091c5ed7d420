/// A query of a full-text index.
///
/// A plain string literal means ``words(_:)``. Except in ``raw(_:)``, user input can neither break the query
/// nor act as an operator.
///
/// ```swift
/// try Article.search("local first", in: db)
/// try Article.search(.prefix(typed), in: db)
/// try Article.search(.raw("title : (swift NOT apple) OR NEAR(sqlite wal, 5)"), in: db)
/// ```
public struct TextQuery: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The query in FTS5's query language (https://sqlite.org/fts5.html#full_text_query_syntax); empty when
    /// it cannot match.
    public let expression: String

    private init(expression: String) { self.expression = expression }

    /// ``words(_:)`` of the literal.
    public init(stringLiteral value: String) { self = .words(value) }

    /// Matches all of the words, in any order. White space separates words.
    public static func words(_ text: String) -> TextQuery {
        TextQuery(expression: quoted(text).joined(separator: " "))
    }

    /// Matches at least one of the words.
    public static func anyWord(_ text: String) -> TextQuery {
        TextQuery(expression: quoted(text).joined(separator: " OR "))
    }

    /// Matches all of the words, and treats the last one as a prefix: for a search while the user types.
    public static func prefix(_ text: String) -> TextQuery {
        let words = quoted(text)
        return TextQuery(expression: words.isEmpty ? "" : words.joined(separator: " ") + " *")
    }

    /// Matches the words as a phrase, in this order.
    public static func phrase(_ text: String) -> TextQuery {
        let words = text.split(whereSeparator: \.isWhitespace)
        return TextQuery(expression: words.isEmpty ? "" : quote(words.joined(separator: " ")))
    }

    /// A query in FTS5's own query language. A syntax error in it makes the search throw
    /// ``StoreError/Code/sql``.
    public static func raw(_ expression: String) -> TextQuery { TextQuery(expression: expression) }

    private static func quoted(_ text: String) -> [String] {
        // Text without a letter or digit is no word to any tokenizer and would be an empty phrase.
        text.split(whereSeparator: \.isWhitespace).filter { $0.contains { $0.isLetter || $0.isNumber || !$0.isASCII } }
            .map { quote(String($0)) }
    }

    /// Quotes a string for FTS5, without NUL characters, which would end it.
    private static func quote(_ text: String) -> String {
        "\""
            + text.filter { $0 != "\0" }.split(separator: "\"", omittingEmptySubsequences: false).joined(
                separator: "\"\"") + "\""
    }
}

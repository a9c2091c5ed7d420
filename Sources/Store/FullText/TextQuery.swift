/// What to search for in a full-text index.
///
/// A plain string literal means ``words(_:)``. Except for ``raw(_:)``, what a person typed can neither break the query nor be
/// taken for an operator.
///
/// ```swift
/// try Article.search("local first", in: db)
/// try Article.search(.prefix(typed), in: db)
/// try Article.search(.raw("title : (swift NOT apple) OR NEAR(sqlite wal, 5)"), in: db)
/// ```
public struct TextQuery: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The query in FTS5's language (https://sqlite.org/fts5.html#full_text_query_syntax); empty when it can find nothing.
    public let expression: String

    private init(expression: String) { self.expression = expression }

    /// ``words(_:)`` of the literal.
    public init(stringLiteral value: String) { self = .words(value) }

    /// Every one of the words, in any order. Words are what stands between white space.
    public static func words(_ text: String) -> TextQuery {
        TextQuery(expression: quoted(text).joined(separator: " "))
    }

    /// At least one of the words.
    public static func anyWord(_ text: String) -> TextQuery {
        TextQuery(expression: quoted(text).joined(separator: " OR "))
    }

    /// Every one of the words, the last of which may be only begun: for a search while someone types.
    public static func prefix(_ text: String) -> TextQuery {
        let words = quoted(text)
        return TextQuery(expression: words.isEmpty ? "" : words.joined(separator: " ") + " *")
    }

    /// The words one after another.
    public static func phrase(_ text: String) -> TextQuery {
        let words = text.split(whereSeparator: \.isWhitespace)
        return TextQuery(expression: words.isEmpty ? "" : quote(words.joined(separator: " ")))
    }

    /// A query in FTS5's own language. A mistake in it is an error with the code `sql`.
    public static func raw(_ expression: String) -> TextQuery { TextQuery(expression: expression) }

    private static func quoted(_ text: String) -> [String] {
        // What has no letter or digit is no word to any tokenizer, and would be an empty phrase.
        text.split(whereSeparator: \.isWhitespace).filter { $0.contains { $0.isLetter || $0.isNumber || !$0.isASCII } }
            .map { quote(String($0)) }
    }

    /// A string of FTS5. It would end at a NUL.
    private static func quote(_ text: String) -> String {
        "\""
            + text.filter { $0 != "\0" }.split(separator: "\"", omittingEmptySubsequences: false).joined(
                separator: "\"\"") + "\""
    }
}

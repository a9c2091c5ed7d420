import Journal

/// The type of a column of texts: `String` or `String?`.
public protocol TextColumnValue: ColumnValue {}

extension String: TextColumnValue {}
extension Optional: TextColumnValue where Wrapped == String {}

// None of these is ever true for NULL. They are SQLite's LIKE, which matches ASCII letters in either case.
extension Condition {
    /// SQLite's LIKE: `%` matches any text, `_` matches one character, and ASCII letters match in either
    /// case. NULL never matches.
    public static func like<Text: TextColumnValue>(_ path: ColumnPath<M, Text>, _ pattern: String) -> Condition {
        compare(path, "LIKE", Template("\(pattern)"))
    }

    /// The column's text begins with `text`, in which no character has a special meaning. ASCII letters match
    /// in either case. NULL never matches. The query throws ``StoreError/Code/unstorable`` for a text with a
    /// NUL, at which LIKE would end it.
    public static func hasPrefix<Text: TextColumnValue>(_ path: ColumnPath<M, Text>, _ text: String) -> Condition {
        literal(path, after: "", text, before: "%")
    }

    /// The column's text ends with `text`, which matches as in ``hasPrefix(_:_:)``.
    public static func hasSuffix<Text: TextColumnValue>(_ path: ColumnPath<M, Text>, _ text: String) -> Condition {
        literal(path, after: "%", text, before: "")
    }

    /// The column's text contains `text`, which matches as in ``hasPrefix(_:_:)``.
    public static func contains<Text: TextColumnValue>(_ path: ColumnPath<M, Text>, _ text: String) -> Condition {
        literal(path, after: "%", text, before: "%")
    }

    private static func literal<Text>(
        _ path: ColumnPath<M, Text>, after start: String, _ text: String, before end: String
    ) -> Condition {
        guard !text.utf8.contains(0) else {
            let error = StoreError(
                .unstorable, "A text with a NUL cannot be searched for", hint: "SQLite's LIKE ends a text there.",
                table: M.schema.table, column: M.columns[keyPath: path].name)
            return Condition(template: Template([.failure(error)]))
        }
        // By scalars, because a special character before a combining mark is one Character with it.
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == "%" || scalar == "_" || scalar == "\\" { escaped.append("\\") }
            escaped.append(scalar)
        }
        return compare(path, "LIKE", Template("\(start + String(escaped) + end) ESCAPE '\\'"))
    }
}

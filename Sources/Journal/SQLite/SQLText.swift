/// Writes names and texts into SQL that Tandem generates. Values are bound, never written.
package enum SQLText {
    /// Returns `name` as a quoted identifier, with each `"` doubled (https://sqlite.org/lang_keywords.html).
    package static func quote(identifier name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }

    /// Returns `text` as a string literal, with each `'` doubled. For texts that cannot be bound, for example
    /// in a trigger.
    package static func quote(literal text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    }

    /// Returns `name` in the form in which SQLite compares names: ASCII letters in lower case, everything
    /// else unchanged.
    package static func foldedName(_ name: String) -> String {
        String(decoding: name.utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }, as: UTF8.self)
    }
}

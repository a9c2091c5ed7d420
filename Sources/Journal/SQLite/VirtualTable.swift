/// What the statement that creates a virtual table says of it.
struct VirtualTable {
    /// True when the table has no rows of its own: a full-text index of another table, or of texts that are
    /// stored elsewhere (https://sqlite.org/fts5.html, section 4.4; https://sqlite.org/fts3.html, section
    /// 6.2), or a view of such an index.
    let isDerived: Bool

    /// - Parameter sql: `CREATE VIRTUAL TABLE … USING module(…)`.
    init(sql: String) {
        let words = SQLToken.scan(sql).map { SQLText.foldedName($0.text) }
        let module = words.firstIndex(of: "using").map { words[($0 + 1)...].first ?? "" }
        switch module {
        case "fts3", "fts4", "fts5": isDerived = zip(words, words.dropFirst()).contains { $0 == "content" && $1 == "=" }
        case "fts5vocab", "fts4aux", "fts3tokenize": isDerived = true
        default: isDerived = false
        }
    }
}

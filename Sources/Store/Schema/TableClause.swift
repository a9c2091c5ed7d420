import Journal

/// One constraint of a column or of a table, with its name if it has one.
struct TableClause {
    enum Kind {
        case primaryKey, notNull, null, unique, check, defaultValue, collation, reference, generated
        /// `CONSTRAINT name` without a constraint, which SQLite allows.
        case name
    }

    private(set) var kind: Kind
    private(set) var tokens: [SQLToken]

    init(_ sql: String, _ kind: Kind) {
        self.kind = kind
        tokens = SQLToken.scan(sql)
    }

    private init(kind: Kind, tokens: [SQLToken]) {
        self.kind = kind
        self.tokens = tokens
    }

    var sql: String { tokens.map(\.text).joined(separator: " ") }

    /// The collations that a key of the table gives to its columns, by the columns' folded names.
    var keyCollations: [String: String] {
        var collations: [String: String] = [:]
        var column: SQLToken?
        for (token, next) in zip(tokens, tokens.dropFirst()) {
            if token.text == "(" || token.text == "," { column = next }
            if token.text.uppercased() == "COLLATE", let column {
                collations[SQLText.foldedName(column.name)] = next.text
            }
        }
        return collations
    }

    /// `ON CONFLICT …` of the clause; nil without it.
    var onConflict: String? {
        guard let index = tokens.firstIndex(where: { $0.text.uppercased() == "CONFLICT" }), index > 0,
            index + 1 < tokens.count
        else { return nil }
        return tokens[index - 1...index + 1].map(\.text).joined(separator: " ")
    }

    /// Takes the table's name away from its columns: `Person.name` is `name`.
    mutating func removeQualifier(_ table: String) {
        tokens = tokens.flatMap { token -> [SQLToken] in
            guard let dot = token.text.firstIndex(of: "."), SQLText.same(String(token.text[..<dot]), table) else {
                return [token]
            }
            return SQLToken.scan(String(token.text[dot...].dropFirst()))
        }
    }

    /// The folded names that the clause may use as columns of its own table. Names of functions are among
    /// them, so a clause may seem to name a column that it does not use.
    var names: Set<String> {
        // What follows REFERENCES are columns of the parent table.
        let parent = tokens.firstIndex { $0.text.uppercased() == "REFERENCES" }
        return TableClause.names(in: tokens[..<(parent ?? tokens.endIndex)])
    }

    /// The folded names in a piece of SQL, without its strings.
    static func names(in tokens: ArraySlice<SQLToken>) -> Set<String> {
        Set(
            tokens.filter { !$0.text.hasPrefix("'") }.flatMap { token -> [String] in
                // `Person.name` is one token.
                let isQuoted = ["\"", "`", "["].contains { token.text.hasPrefix($0) }
                let parts = isQuoted ? [token.name] : token.text.split(separator: ".").map(String.init)
                return parts.map(SQLText.foldedName)
            })
    }

    /// True for the first token of a constraint of a table. These words are no names of columns unless they
    /// are quoted.
    static func beginsConstraint(_ token: SQLToken) -> Bool {
        ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"].contains(token.text.uppercased())
    }

    /// Splits the tokens after a column's name, or those of a table's constraints. Tokens before the first
    /// clause, the column's type, are left out.
    static func scan(_ tokens: ArraySlice<SQLToken>) -> [TableClause] {
        let words = tokens.map { $0.text.uppercased() }
        var clauses: [TableClause] = []
        var depth = 0
        for (index, token) in tokens.enumerated() {
            if depth == 0, let kind = beginning(at: index, in: words, isInKey: clauses.last?.isForeignKey == true) {
                if let last = clauses.last, last.kind == .name, last.tokens.count == 2, kind != .name {
                    // The clause whose name was just given.
                    clauses[clauses.count - 1].kind = kind
                } else {
                    clauses.append(TableClause(kind: kind, tokens: []))
                }
            }
            if !clauses.isEmpty { clauses[clauses.count - 1].tokens.append(token) }
            if token.text == "(" { depth += 1 }
            if token.text == ")" { depth -= 1 }
        }
        return clauses
    }

    private var isForeignKey: Bool { tokens.contains { $0.text.uppercased() == "FOREIGN" } }

    /// The clause that begins at this word; nil inside of a clause.
    private static func beginning(at index: Int, in words: [String], isInKey: Bool) -> Kind? {
        let previous = index > 0 ? words[index - 1] : ""
        let next = index + 1 < words.count ? words[index + 1] : ""
        // A name, which may be a word that is reserved elsewhere.
        if ["CONSTRAINT", "COLLATE"].contains(previous) { return nil }
        switch words[index] {
        case "CONSTRAINT": return .name
        case "PRIMARY": return .primaryKey
        // NOT DEFERRABLE belongs to a reference.
        case "NOT" where next == "NULL": return .notNull
        // SET NULL and SET DEFAULT belong to a reference, DEFAULT NULL to a default value.
        case "NULL" where !["NOT", "SET", "DEFAULT"].contains(previous): return .null
        case "UNIQUE": return .unique
        case "CHECK": return .check
        case "DEFAULT" where previous != "SET": return .defaultValue
        case "COLLATE": return .collation
        case "FOREIGN": return .reference
        case "REFERENCES" where !isInKey: return .reference
        case "GENERATED": return .generated
        case "AS" where previous != "ALWAYS": return .generated
        default: return nil
        }
    }
}

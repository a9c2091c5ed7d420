import GRDB

/// The collations of programs that a file's operator has mapped to ones that Tandem knows: `syncd init
/// --collation NAME=nocase`.
///
/// A collation is a function of a program's own connections (https://sqlite.org/datatype3.html#collation). The
/// map says which known collation gives the same order, so that other programs can write tables that have it.
package struct CollationMap: Sendable, Hashable {
    /// One collation of a program.
    package struct Entry: Sendable, Hashable {
        /// The name as the operator spells it; SQLite compares it without case.
        package let name: String
        /// The collation that gives the same order.
        package let target: KeyCollation

        package init(name: String, target: KeyCollation) {
            self.name = name
            self.target = target
        }
    }

    /// By folded name.
    private var entries: [String: Entry] = [:]

    /// By name.
    package var all: [Entry] { entries.values.sorted { $0.name < $1.name } }
    package var isEmpty: Bool { entries.isEmpty }

    package init() {}

    /// Reads what a file declares.
    ///
    /// - Returns: An empty map for a file without a journal, and for one of an earlier release.
    /// - Throws: ``JournalError/Code/corrupt`` when the list cannot be read; errors of SQLite.
    package init(_ db: Database) throws {
        guard let text = try CollationMap.text(db) else { return }
        let names = try NameList.decode(text)
        for index in stride(from: 0, to: names.count - 1, by: 2) {
            guard let target = KeyCollation(word: names[index + 1]) else {
                throw JournalError(
                    .corrupt,
                    "The map of collations in the file names \(names[index + 1]), which this release does not know",
                    hint: "Use the release that declared it.")
            }
            self[names[index]] = Entry(name: names[index], target: target)
        }
    }

    /// The list as the file has it. It is read at each contact with the file, so it costs one cached statement.
    private static func text(_ db: Database) throws -> String? {
        do {
            return try String.fetchOne(db.cachedStatement(sql: "SELECT collations FROM _journal_replica"))
        } catch let error as DatabaseError where error.message?.hasPrefix("no such ") == true {
            return nil
        }
    }

    /// What a collation is mapped to; nil for one that is not in the map.
    package func target(of name: String) -> KeyCollation? { self[name]?.target }

    /// How a column or an index that is declared with `name` compares text. A collation of a program that is
    /// not in the map counts as BINARY.
    func comparison(_ name: String) -> KeyCollation {
        KeyCollation(rawValue: name.uppercased()) ?? target(of: name) ?? .binary
    }

    private subscript(name: String) -> Entry? {
        get { entries[SQLText.foldedName(name)] }
        set { entries[SQLText.foldedName(name)] = newValue }
    }

    /// Returns this map with those changes. An entry without a target is taken out.
    package func changed(by changes: [(name: String, target: KeyCollation?)]) -> CollationMap {
        var result = self
        for change in changes { result[change.name] = change.target.map { Entry(name: change.name, target: $0) } }
        return result
    }
}

extension KeyCollation {
    /// The word for it on the command line and in `_journal_replica.collations`.
    package var word: String {
        switch self {
        case .binary: "binary"
        case .nocase: "nocase"
        case .rtrim: "rtrim"
        case .unicode: "unicode"
        }
    }

    /// The words of all collations that a program's collation can be mapped to.
    package static let words = allCases.map(\.word)

    package init?(word: String) {
        guard let found = KeyCollation.allCases.first(where: { $0.word == word.lowercased() }) else { return nil }
        self = found
    }
}

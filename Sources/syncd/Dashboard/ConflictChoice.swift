import GRDB
import Journal

/// Which open conflicts a page shows: the fields of its form, as typed.
struct ConflictChoice: Sendable, Hashable {
    /// The name of a table; nil for all.
    let table: String?
    /// The key of a row, as ``KeyPattern`` takes it; nil for all.
    let key: String?
    /// The name of a ``ConflictEntry/Kind``; nil for all. Any other text selects nothing.
    let kind: String?

    /// - Parameter query: Of the page's address. What cannot be read selects everything.
    init(query: String?) {
        let fields = query.flatMap { FormData($0) }
        func field(_ name: String) -> String? { fields?[name].flatMap { $0.isEmpty ? nil : $0 } }
        table = field("table")
        key = field("key")
        kind = field("kind")
    }

    var isGiven: Bool { table != nil || key != nil || kind != nil }

    /// The page with this choice.
    var address: String {
        let fields = [("table", table), ("key", key), ("kind", kind)].compactMap { name, value in
            value.map { "\(name)=\(FormData.encoded($0))" }
        }
        return ConflictsPage.path + (fields.isEmpty ? "" : "?" + fields.joined(separator: "&"))
    }

    /// The newest open conflicts that are chosen, newest first, without the values of secret columns.
    ///
    /// - Parameter most: The most conflicts to return.
    /// - Throws: As `ConflictLedger.forEach`.
    func conflicts(_ db: Database, atMost most: Int) throws -> [ConflictEntry] {
        var filter = ConflictFilter(table: table)
        if let kind {
            guard let known = ConflictEntry.Kind(rawValue: kind) else { return [] }
            filter.kind = known
        }
        let pattern = key.map { KeyPattern(text: $0) }
        let secrets = try SecretColumns(db)
        var conflicts: [ConflictEntry] = []
        try ConflictLedger(db).forEach(filter, backwards: true) { conflict in
            if let pattern, !pattern.matches(conflict.key.map { JSONValue($0.value) }) { return true }
            conflicts.append(conflict.hiding(secrets))
            return conflicts.count < most
        }
        return conflicts
    }
}

import Foundation
import GRDB

/// The names of each table, as operators declared them in this file. See
/// docs/decisions/0013-renamed-tables.md.
///
/// A declaration says that a newer name follows an older one. All names connected in this way denote one
/// table, and changes that a peer sends under any of them belong to it. Entries captured here are sent under
/// the oldest name, the *wire name*. Peers that have not renamed the table know it too.
///
/// Names compare as SQLite compares them.
public struct TableNames: Sendable, Hashable {
    /// The older names, by folded newer name.
    private(set) var older: [String: String] = [:]
    /// The folded newer names, by folded older name.
    private(set) var newer: [String: String] = [:]

    /// Reads the names in the snapshot of `db`; none in a file of an earlier release.
    ///
    /// - Throws: Errors of SQLite.
    public init(_ db: Database) throws {
        // A file of an earlier release that is opened read-only lacks this table.
        guard try db.tableExists("_journal_names") else { return }
        let rows = try Row.fetchCursor(
            try db.cachedStatement(sql: "SELECT old, new FROM _journal_names"))
        while let row = try rows.next() { add(row["old"], row["new"]) }
    }

    /// True when no names are declared.
    public var isEmpty: Bool { older.isEmpty }

    /// Returns the oldest name of the table that has the name `name` in this file.
    public func wireName(of name: String) -> String {
        var name = name
        while let before = older[SQLText.foldedName(name)] { name = before }
        return name
    }

    /// Returns a string that is equal for all names of one table, for comparing.
    public func folded(_ name: String) -> String { SQLText.foldedName(wireName(of: name)) }

    /// True when `name` is a newer name than `other` of the same table.
    func isNewer(_ name: String, than other: String) -> Bool {
        let target = SQLText.foldedName(name)
        var name = SQLText.foldedName(other)
        while let next = newer[name] {
            if next == target { return true }
            name = next
        }
        return false
    }

    private mutating func add(_ old: String, _ new: String) {
        older[SQLText.foldedName(new)] = old
        newer[SQLText.foldedName(old)] = SQLText.foldedName(new)
    }
}

extension TableNames {
    /// The declaration of a new name for a table, before or after the table is renamed.
    public struct Renaming: Sendable, Hashable {
        /// The older name. Machines that have not renamed the table use it.
        public let old: String
        /// The newer name.
        public let new: String

        /// - Parameters:
        ///   - old: The older name.
        ///   - new: The newer name.
        public init(old: String, new: String) {
            self.old = old
            self.new = new
        }
    }
}

import GRDB

/// What programs and SQLite expect of the content of a file: its page size and text encoding, its schema, and the
/// settings of its replica. The content of another file can take its place only where all of this is equal.
public struct ContentProfile: Sendable, Hashable, Codable {
    /// For each aspect, what the file has.
    private let lines: [String: [String]]

    /// What can differ, in the order in which differences are named.
    private static let aspects: [(name: String, difference: String, sql: String)] = [
        ("page_size", "another page size", "SELECT page_size FROM pragma_page_size"),
        ("encoding", "another text encoding", "SELECT encoding FROM pragma_encoding"),
        ("user_version", "another PRAGMA user_version", "SELECT user_version FROM pragma_user_version"),
        (
            "schema", "another schema",
            """
            SELECT type || ' ' || name || ': ' || coalesce(sql, '') FROM sqlite_schema
            WHERE substr(name, 1, 8) <> '_journal' AND substr(tbl_name, 1, 8) <> '_journal' ORDER BY type, name
            """
        ),
        ("tables", "other tables included", "SELECT coalesce(include, '') || exclude FROM _journal_replica"),
        (
            "foreign_keys", "another rule for foreign keys",
            "SELECT coalesce(foreign_keys, '') FROM _journal_replica"
        ),
        ("policies", "other policies", "SELECT name || '=' || policy FROM _journal_policies ORDER BY name"),
        ("collations", "other collations", "SELECT lower(coalesce(collations, '')) FROM _journal_replica"),
        (
            "references", "other references",
            "SELECT tbl || '.' || column || '=' || parent FROM _journal_references ORDER BY 1"
        ),
    ]

    /// Reads the profile of a replica's file.
    ///
    /// - Throws: Errors of SQLite, also for a file without a journal of this release's format.
    package init(_ db: Database) throws {
        var lines: [String: [String]] = [:]
        for aspect in ContentProfile.aspects { lines[aspect.name] = try String.fetchAll(db, sql: aspect.sql) }
        self.lines = lines
    }

    /// Reads the profile of a file that nobody writes.
    ///
    /// - Throws: As ``init(_:)``.
    package init(at path: String, unlock: (@Sendable (Database) throws -> Void)? = nil) throws {
        var configuration = Configuration()
        configuration.readonly = true
        if let unlock { configuration.prepareDatabase(unlock) }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        self = try queue.read { try ContentProfile($0) }
    }

    public init(from decoder: any Decoder) throws {
        lines = try decoder.singleValueContainer().decode([String: [String]].self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(lines)
    }

    /// Says why the content of a file with the other profile cannot take the place of this one's; nil when it can.
    /// Aspects that only one of the two names do not count: a later release may add some.
    package func difference(from other: ContentProfile) -> String? {
        for aspect in ContentProfile.aspects {
            guard let here = lines[aspect.name], let there = other.lines[aspect.name], here != there else { continue }
            let different = Set(here).symmetricDifference(there).sorted().first ?? ""
            return "\(aspect.difference) (\(different.prefix(120)))"
        }
        return nil
    }
}

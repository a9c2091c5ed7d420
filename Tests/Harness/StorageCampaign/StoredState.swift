import GRDB
import Journal
import TestSupport

/// The content of a replica's file, its journal and its tables, in one snapshot.
struct StoredState {
    typealias Table = [[Value]: [String: Value]]

    /// The rows of each table, by table name and key.
    var tables: [String: Table] = [:]
    /// The tables that the journal gives, by a reader that shares no code with the engine.
    private(set) var replayed: [String: Table] = [:]
    /// The digests of all changes of each origin, from version 1 on.
    private(set) var histories: [OriginID: [UInt64]] = [:]
    /// The names of the transactions in the journal, in its order.
    private(set) var tokens: [String] = []
    /// What the journal holds, in its order.
    let changes: [StoredChange]
    let vector: VersionVector
    private(set) var problems: [String] = []

    /// - Parameter archive: What compaction may have removed from the journal.
    init(_ replica: Replica, _ archive: StoredChanges = StoredChanges()) throws {
        let (vector, horizon, changes, tables) = try replica.read { db in
            let reader = try JournalReader(db)
            return (
                reader.vector(), try Horizon(db).vector, StoredChange.all(in: try reader.batch(after: VersionVector())),
                try StoredState.tables(db)
            )
        }
        self.vector = vector
        self.tables = tables
        self.changes = changes
        let all = archive.compacted(upTo: horizon, without: changes) + changes
        read(all)
        tokens = changes.compactMap(\.token)
        for (name, rows) in tables where rows != replayed[name] ?? [:] {
            problems.append("\(name) holds \(StoredState.difference(rows, replayed[name] ?? [:]))")
        }
        for entry in vector.entries where Int64(histories[entry.origin]?.count ?? 0) != entry.version {
            problems.append(
                "the vector says \(entry.version) of \(entry.origin), the journal holds \(histories[entry.origin]?.count ?? 0)"
            )
        }
        for (origin, history) in histories where vector[origin] != Int64(history.count) {
            problems.append("the vector lacks \(origin)")
        }
    }

    private static func tables(_ db: Database) throws -> [String: Table] {
        let names = try String.fetchAll(
            db,
            sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '\\_journal%' ESCAPE '\\'")
        var tables: [String: Table] = [:]
        for name in names where !name.hasPrefix("sqlite_") {
            var rows: Table = [:]
            let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM \"\(name)\"")
            while let row = try cursor.next() {
                var columns: [String: Value] = [:]
                for (column, value) in row { columns[column] = Value(value) }
                let key = columns.removeValue(forKey: name == "token" ? "name" : "id")
                rows[[key ?? .null]] = columns.filter { $0.value != .null }
            }
            tables[name] = rows
        }
        return tables
    }

    // MARK: - A plain reader of the journal

    /// The changes of a row's greatest life make it: each column keeps the change with the greatest stamp;
    /// see docs/CONFLICTS.md.
    private mutating func read(_ changes: [StoredChange]) {
        struct Claim {
            var stamp: Stamp
            var origin: OriginID
            var value: Value
        }
        struct Row {
            var life: Int64 = 0
            var claims: [String: Claim] = [:]
        }
        for (origin, list) in Dictionary(grouping: changes, by: \.origin) {
            for (index, change) in list.sorted(by: { $0.version < $1.version }).enumerated() {
                if change.version != Int64(index) + 1 {
                    problems.append("version \(change.version) of \(origin) is the \(index + 1). that is known")
                }
                histories[origin, default: []].append(change.digest)
            }
        }
        var rows: [String: [[Value]: Row]] = [:]
        for change in changes {
            var row = rows[change.table]?[change.key] ?? Row()
            defer { rows[change.table, default: [:]][change.key] = row }
            guard change.life >= row.life else { continue }
            if change.life > row.life { row = Row(life: change.life) }
            for (column, value) in change.columns {
                let claim = Claim(stamp: change.stamp, origin: change.origin, value: value)
                if let other = row.claims[column], (other.stamp, other.origin) > (claim.stamp, claim.origin) {
                    continue
                }
                row.claims[column] = claim
            }
        }
        for (table, rows) in rows {
            replayed[table] = rows.filter { $0.value.life % 2 == 1 }.mapValues { row in
                row.claims.mapValues(\.value).filter { $0.value != .null }
            }
        }
    }

    private static func difference(_ shown: Table, _ said: Table) -> String {
        for (key, row) in shown where said[key] != row {
            return "\(key) as \(row), where the journal says \(said[key].map { "\($0)" } ?? "nothing")"
        }
        for (key, row) in said where shown[key] == nil { return "no \(key), where the journal says \(row)" }
        return "what the journal says"
    }

    // MARK: - Comparison with others

    /// The first version that has different contents in the two files.
    func contradiction(with other: StoredState) -> String? {
        for (origin, history) in histories {
            guard let theirs = other.histories[origin] else { continue }
            for (index, pair) in zip(history, theirs).enumerated() where pair.0 != pair.1 {
                return "version \(index + 1) of \(origin) has two contents"
            }
        }
        return nil
    }
}

extension Value {
    init(_ value: DatabaseValue) {
        self =
            switch value.storage {
            case .null: .null
            case .int64(let number): .integer(number)
            case .double(let number): .real(number)
            case .string(let text): .text(ArraySlice(text.utf8))
            case .blob(let data): .blob(ArraySlice(data))
            }
    }
}

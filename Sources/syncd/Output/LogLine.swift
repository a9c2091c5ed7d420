import Journal

/// One journal entry as `syncd log` shows it.
struct LogLine: Sendable {
    let seq: Int64
    let origin: OriginID
    let isLocal: Bool
    let version: Int64
    let table: String
    let operation: String
    let key: [(name: String, value: Value)]
    let columns: [(name: String, value: Value)]
    /// What the writer wrote where this replica shows the new key of a row.
    let written: [(name: String, value: Value)]
    let stamp: Stamp
    let life: Int64
    /// The name of the migration that made the change; nil for a user's.
    let migration: String?

    /// - Parameters:
    ///   - own: The identity of the replica. Local entries do not store it.
    ///   - secrets: The columns whose values are not shown.
    ///   - isCopy: True for a copy of what an archive holds: no change was made there.
    init(_ entry: JournalEntry, own: OriginID, secrets: SecretColumns, isCopy: Bool = false) {
        func shown(_ name: String, _ value: Value) -> (name: String, value: Value) {
            (name: name, value: secrets.shown(value, of: name, in: entry.shape.table))
        }
        seq = entry.seq
        origin = entry.origin ?? own
        isLocal = entry.isLocal && !isCopy
        version = entry.version
        table = entry.shape.table
        operation = entry.operation.name
        stamp = entry.stamp
        life = entry.life
        migration = entry.migration?.name
        key = entry.namedKey
        columns = entry.columns.map { shown($0.name, $0.value) }
        written = entry.written.sorted { $0.key < $1.key }.map { shown(entry.shape.columns[$0.key], $0.value) }
    }

    var json: JSONValue {
        .object([
            "seq": .integer(seq),
            "origin": .string(origin.description),
            "version": .integer(version),
            "table": .string(table),
            "op": .string(operation),
            "key": .columns(key),
            "columns": .columns(columns),
            "written": .columns(written),
            "stamp": .integer(stamp.rawValue),
            "time": .string(ConsoleText.time(milliseconds: stamp.milliseconds)),
            "local": .bool(isLocal),
            "life": .integer(life),
            "migration": migration.map(JSONValue.string) ?? .null,
        ])
    }

    var text: String {
        func text(_ columns: [(name: String, value: Value)]) -> String {
            columns.map { "\(ConsoleText.printable($0.name))=\($0.value.shown)" }.joined(separator: " ")
        }
        return [
            String(seq), ConsoleText.time(milliseconds: stamp.milliseconds), isLocal ? "local" : origin.short,
            operation,
            ConsoleText.printable(table), "[\(key.map(\.value.shown).joined(separator: ", "))]", text(columns),
            written.isEmpty ? "" : "written as \(text(written))",
            migration.map { "by the migration \(ConsoleText.printable($0))" } ?? "",
        ].filter { !$0.isEmpty }.joined(separator: "  ")
    }
}

extension Operation {
    /// The word in the lines of `syncd log`.
    var name: String {
        switch self {
        case .insert: "insert"
        case .update: "update"
        case .delete: "delete"
        }
    }
}

extension JournalEntry {
    /// The key columns with their values.
    var namedKey: [(name: String, value: Value)] {
        zip(shape.keyColumns, keyValues).map { (name: $0, value: $1) }
    }
}

import Journal

/// A schema in plain words: what the reference model needs to know of one replica's tables.
struct ReferenceSchema: Sendable {
    var tables: [ReferenceTable] = []

    func table(_ name: String) -> ReferenceTable? { tables.first { $0.name == name } }
}

struct ReferenceTable: Sendable {
    var name: String
    /// The key columns first.
    var columns: [ReferenceColumn]
    var keyCount = 1
    var uniques: [ReferenceUnique] = []
    var foreignKeys: [ReferenceForeignKey] = []
    var checks: [ReferenceCheck] = []

    func column(_ name: String) -> ReferenceColumn? { columns.first { $0.name == name } }

    var keyColumns: [String] { columns.prefix(keyCount).map(\.name) }

    /// The columns that decide which of two rows has the earlier claim.
    var claimColumns: Set<String> { Set(uniques.flatMap(\.namedColumns)) }
}

struct ReferenceColumn: Sendable {
    var name: String
    var isText = false
    var ignoresCase = false
    var isNotNull = false
    var defaultValue = Value.null
}

/// A UNIQUE constraint or index besides the primary key.
struct ReferenceUnique: Sendable {
    struct Term: Sendable {
        var column: String
        var ignoresCase: Bool
    }
    var terms: [Term]
    /// Of a partial index: only rows with this value in this column count.
    var condition: (column: String, value: Value)?

    var namedColumns: [String] { terms.map(\.column) + (condition.map { [$0.column] } ?? []) }
}

struct ReferenceForeignKey: Sendable {
    enum Action: String, Sendable, CaseIterable {
        case none = "NO ACTION"
        case restrict = "RESTRICT"
        case cascade = "CASCADE"
        case setNull = "SET NULL"
        case setDefault = "SET DEFAULT"
    }
    var columns: [String]
    var parent: String
    var parentColumns: [String]
    var onDelete = Action.none
}

/// A CHECK of one row, as SQLite takes it: NULL passes.
enum ReferenceCheck: Sendable {
    case differ(String, String)
    case atMost(String, Int64)

    func allows(_ row: [String: Value]) -> Bool {
        switch self {
        case .differ(let a, let b):
            let (left, right) = (row[a] ?? .null, row[b] ?? .null)
            return left == .null || right == .null || left != right
        case .atMost(let column, let bound):
            guard case .integer(let number) = row[column] ?? .null else { return true }
            return number <= bound
        }
    }
}

extension Value {
    /// The value as a comparison sees it.
    func compared(ignoringCase: Bool) -> Value {
        guard ignoringCase, case .text(let bytes) = self else { return self }
        return .text(Bytes(bytes.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }))
    }
}

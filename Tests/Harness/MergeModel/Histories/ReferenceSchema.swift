import Journal

/// A schema as the reference model needs it: the tables of one replica.
package struct ReferenceSchema: Sendable {
    package var tables: [ReferenceTable] = []

    package init() {}

    package func table(_ name: String) -> ReferenceTable? { tables.first { $0.name == name } }
}

package struct ReferenceTable: Sendable {
    package var name: String
    /// The key columns first.
    package var columns: [ReferenceColumn]
    package var keyCount = 1
    package var isWithoutRowid = false
    package var uniques: [ReferenceUnique] = []
    package var foreignKeys: [ReferenceForeignKey] = []
    package var checks: [ReferenceCheck] = []

    package init(name: String, columns: [ReferenceColumn], keyCount: Int = 1) {
        self.name = name
        self.columns = columns
        self.keyCount = keyCount
    }

    package func column(_ name: String) -> ReferenceColumn? { columns.first { $0.name == name } }

    /// True when SQLite chooses the key of a row that is inserted without one.
    package var mints: Bool { keyCount == 1 && !columns[0].isText && !isWithoutRowid }

    package var keyColumns: [String] { columns.prefix(keyCount).map(\.name) }

    /// The columns whose writes decide which of two rows has the earlier claim.
    package var claimColumns: Set<String> { Set(uniques.flatMap(\.namedColumns)) }
}

package struct ReferenceColumn: Sendable {
    package var name: String
    package var isText = false
    package var ignoresCase = false
    package var isNotNull = false
    package var defaultValue = Value.null

    package init(
        name: String, isText: Bool = false, ignoresCase: Bool = false, isNotNull: Bool = false,
        defaultValue: Value = .null
    ) {
        self.name = name
        self.isText = isText
        self.ignoresCase = ignoresCase
        self.isNotNull = isNotNull
        self.defaultValue = defaultValue
    }
}

/// A UNIQUE constraint or index besides the primary key.
package struct ReferenceUnique: Sendable {
    package struct Term: Sendable {
        package var column: String
        package var ignoresCase: Bool
    }
    package var terms: [Term]
    /// For a partial index: only rows with this value in this column count.
    package var condition: (column: String, value: Value)?

    package var namedColumns: [String] { terms.map(\.column) + (condition.map { [$0.column] } ?? []) }
}

package struct ReferenceForeignKey: Sendable {
    package enum Action: String, Sendable, CaseIterable {
        case none = "NO ACTION"
        case restrict = "RESTRICT"
        case cascade = "CASCADE"
        case setNull = "SET NULL"
        case setDefault = "SET DEFAULT"
    }
    package var columns: [String]
    package var parent: String
    package var parentColumns: [String]
    package var onDelete = Action.none
}

/// A CHECK of one row with SQLite's rule that NULL passes.
package enum ReferenceCheck: Sendable {
    case differ(String, String)
    case atMost(String, Int64)

    package func allows(_ row: [String: Value]) -> Bool {
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

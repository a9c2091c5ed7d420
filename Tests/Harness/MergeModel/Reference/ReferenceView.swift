import Journal

/// The rows that tables show after merging, and the reasons why they do not show the others.
///
/// A candidate is in `shown` with its merged values until the end; the substitutes of soft foreign keys come
/// last.
struct ReferenceView {
    typealias Rows = [ReferenceRowID: [String: Value]]

    let schema: ReferenceSchema
    private(set) var shown: Rows = [:]
    private(set) var held: [ReferenceRowID: String] = [:]

    init(_ rows: [ReferenceRow], schema: ReferenceSchema) {
        self.schema = schema
        var candidates: Rows = [:]
        var claims: [ReferenceRowID: WriteOrder] = [:]
        for row in rows where row.isAlive {
            // A table that is unknown here shows nothing and holds nothing.
            guard let table = schema.table(row.id.table) else { continue }
            let values = ReferenceView.complete(row.values, table)
            if let reason = row.hasInsert ? ReferenceView.refusal(of: values, table) : "incomplete" {
                held[row.id] = reason
            } else {
                candidates[row.id] = values
                claims[row.id] = row.claim(on: table.claimColumns)
            }
        }
        while true {
            let standing = supported(candidates)
            let unclashed = withoutClashes(standing, claims)
            let winners = supported(unclashed)
            if winners.isEmpty {
                for id in candidates.keys {
                    held[id] = standing[id] != nil && unclashed[id] == nil ? "unique" : "foreign_key"
                }
                break
            }
            shown.merge(winners) { _, new in new }
            for id in winners.keys { candidates[id] = nil }
        }
        substitute()
    }

    /// Gives a column without a change its default.
    private static func complete(_ values: [String: Value], _ table: ReferenceTable) -> [String: Value] {
        Dictionary(uniqueKeysWithValues: table.columns.map { ($0.name, values[$0.name] ?? $0.defaultValue) })
    }

    /// Why a row cannot be stored, independent of other rows; nil when it can.
    private static func refusal(of values: [String: Value], _ table: ReferenceTable) -> String? {
        if table.columns.contains(where: { $0.isNotNull && values[$0.name] == .null }) { return "not_null" }
        return table.checks.allSatisfy { $0.allows(values) } ? nil : "check"
    }

    // MARK: - UNIQUE

    /// Takes rows from the earliest claim to the latest, without those that clash with a shown row or with
    /// one taken before.
    private func withoutClashes(_ rows: Rows, _ claims: [ReferenceRowID: WriteOrder]) -> Rows {
        var taken: Rows = [:]
        // A row without a claim has no UNIQUE column.
        let unclaimed = WriteOrder(stamp: .zero, origin: OriginID(high: 0, low: 0))
        for (id, row) in rows.sorted(by: { claims[$0.key] ?? unclaimed < claims[$1.key] ?? unclaimed }) {
            guard let table = schema.table(id.table) else { continue }
            let isFree = table.uniques.allSatisfy { unique in
                guard let entry = ReferenceView.entry(of: row, in: unique, table) else { return true }
                return (Array(shown) + Array(taken)).allSatisfy {
                    $0.key.table != id.table || ReferenceView.entry(of: $0.value, in: unique, table) != entry
                }
            }
            if isFree { taken[id] = row }
        }
        return taken
    }

    /// The index entry of a row; nil when it cannot clash.
    private static func entry(of row: [String: Value], in unique: ReferenceUnique, _ table: ReferenceTable) -> [Value]?
    {
        if let condition = unique.condition {
            // The comparison uses the column's collation.
            let ignoresCase = table.column(condition.column)?.ignoresCase ?? false
            let value = (row[condition.column] ?? .null).compared(ignoringCase: ignoresCase)
            guard value == condition.value.compared(ignoringCase: ignoresCase) else { return nil }
        }
        let values = unique.terms.map { (row[$0.column] ?? .null).compared(ignoringCase: $0.ignoresCase) }
        return values.contains(.null) ? nil : values
    }

    // MARK: - Foreign keys

    /// The greatest subset of `rows` in which each row finds its hard parents, in the subset or among the
    /// shown rows.
    private func supported(_ rows: Rows) -> Rows {
        var rows = rows
        while true {
            let present = shown.merging(rows) { old, _ in old }
            let next = rows.filter { id, row in
                (schema.table(id.table)?.foreignKeys ?? []).allSatisfy { isSatisfied($0, row, id, among: present) }
            }
            if next.count == rows.count { return rows }
            rows = next
        }
    }

    private func isSatisfied(
        _ key: ReferenceForeignKey, _ row: [String: Value], _ id: ReferenceRowID, among present: Rows
    ) -> Bool {
        if hasParent(key, row, id, among: present) { return true }
        guard let substituted = softened(key, row, id) else { return false }
        return hasParent(key, substituted, id, among: present)
    }

    /// True also when no parent is needed: for a NULL, and when the parent table is unknown here.
    private func hasParent(
        _ key: ReferenceForeignKey, _ row: [String: Value], _ id: ReferenceRowID, among present: Rows
    ) -> Bool {
        let values = key.columns.map { row[$0] ?? .null }
        guard !values.contains(.null), let parent = schema.table(key.parent) else { return true }
        let folds = key.parentColumns.map { parent.column($0)?.ignoresCase ?? false }
        let wanted = zip(values, folds).map { $0.compared(ignoringCase: $1) }
        return present.contains { other, candidate in
            // A row may be its own parent.
            let candidate = other == id ? row : candidate
            return other.table == key.parent
                && zip(key.parentColumns, folds).map { (candidate[$0] ?? .null).compared(ignoringCase: $1) } == wanted
        }
    }

    /// The row with the substitute in the columns of `key`; nil when the key is hard for this row.
    private func softened(
        _ key: ReferenceForeignKey, _ row: [String: Value], _ id: ReferenceRowID
    ) -> [String: Value]? {
        guard key.onDelete == .setNull || key.onDelete == .setDefault, let table = schema.table(id.table) else {
            return nil
        }
        let fixed = Set(table.keyColumns).union(table.claimColumns)
        guard fixed.isDisjoint(with: key.columns) else { return nil }
        var row = row
        for name in key.columns {
            row[name] = key.onDelete == .setNull ? .null : table.column(name)?.defaultValue ?? .null
        }
        return ReferenceView.refusal(of: row, table) == nil ? row : nil
    }

    private mutating func substitute() {
        let merged = shown
        for (id, row) in merged {
            for key in schema.table(id.table)?.foreignKeys ?? [] where !hasParent(key, row, id, among: merged) {
                guard let softened = softened(key, row, id) else { continue }
                for name in key.columns { shown[id]?[name] = softened[name] }
            }
        }
    }
}

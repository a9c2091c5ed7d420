import Journal

extension RowStore {
    /// Stops a debug build when one of the invariants does not hold at the end of a transaction, before the
    /// held rows are written. A release build does nothing.
    func checkInvariants() throws {
        #if DEBUG
            if let violation = try invariantViolation() { assertionFailure(violation) }
        #endif
    }

    /// Returns the first of the numbered invariants that does not hold for the held rows that this
    /// transaction has changed, in words; nil when all of them hold.
    ///
    /// It reads each of these rows from its table, and looks at a limited number of them. Rows that are as
    /// the file has them are not checked: another release, or a damaged file, may have written them.
    func invariantViolation() throws -> String? {
        if !unchecked.isEmpty { return "4: the foreign keys of \(unchecked.count) rows were not checked" }
        if !removedParents.isEmpty { return "4: the children of \(removedParents.count) values were not checked" }
        for key in held.changedKeys.prefix(RowStore.checkedRows) {
            guard let row = try held[key], let violation = try violation(of: row, key) else { continue }
            return violation
        }
        return nil
    }

    private func violation(of row: HeldRow, _ key: TableKey) throws -> String? {
        if row.isShown, row.reason != .foreignKey {
            return "2: a row that is held as \(row.reason.rawValue) is shown"
        }
        guard let (context, table) = session.table(key.table, registry: registry) else { return nil }
        guard let values = table.key(of: row.image), Key(values, collations: context.collations) == key.key else {
            return "3: the image of a held row of \(table.name) has another key"
        }
        // A table that would convert the key may show the row of the converted key.
        guard row.reason != .key else { return nil }
        let isVisible = try session.writer(of: context, table).select(key: values) != nil
        if isVisible == row.isShown { return nil }
        return row.isShown
            ? "1: a row that is shown with substitutes is not in \(table.name)"
            : "1: a row that is held as \(row.reason.rawValue) is in \(table.name)"
    }

    /// The number of changed held rows that are checked.
    private static let checkedRows = 64
}

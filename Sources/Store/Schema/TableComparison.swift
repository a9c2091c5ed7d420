import Journal

/// The differences between a table and the model's declaration of it.
struct TableComparison {
    /// A difference that only a rebuild removes.
    struct Difference {
        let column: String
        let reason: String
        /// True when the declared type of a key column differs.
        let isOfKey: Bool
    }

    /// Why the primary key is another one; nil when it is the same.
    let key: String?
    let differences: [Difference]
    /// The columns that only the model has.
    let missing: [DeclaredTable.Column]
    /// The columns that only the table has.
    let extra: [TableInspection.Column]

    /// - Parameter references: The folded names of the columns with a foreign key of their own.
    init(_ table: TableInspection, _ declared: DeclaredTable, references: Set<String>) {
        let key = table.stored.prefix(table.keyCount).map { SQLText.foldedName($0.name) }
        self.key =
            Set(key) == Set(declared.keyNames.map(SQLText.foldedName))
            ? nil : "the primary key is (\(key.joined(separator: ", "))), but the model has another key"
        missing = declared.columns.filter { !table.has($0.name) }
        extra = table.columns.filter { !declared.has($0.name) }
        differences = declared.columns.flatMap { column -> [Difference] in
            guard let present = table.columns.first(where: { SQLText.same($0.name, column.name) }) else { return [] }
            var found = TableComparison.differences(present, column)
            if let reference = column.reference, !references.contains(SQLText.foldedName(column.name)) {
                found.append(Difference(column: column.name, reason: "the column lacks \(reference)", isOfKey: false))
            }
            return found
        }
    }

    /// True when the key must be written anew.
    var changesKey: Bool { key != nil || differences.contains(where: \.isOfKey) }

    private static func differences(_ present: TableInspection.Column, _ column: DeclaredTable.Column) -> [Difference] {
        let isKey = present.keyPosition > 0
        var found: [Difference] = []
        if !column.storage.fits(declaredType: present.declaredType) {
            let reason = "the column is \(present.declaredType), but the model stores \(column.storage.rawValue)"
            found.append(Difference(column: column.name, reason: reason, isOfKey: isKey))
        }
        // A key column without NOT NULL can hold NULL in SQLite
        // (https://sqlite.org/quirks.html#primary_keys_can_sometimes_contain_nulls); capture refuses such
        // tables.
        if !isKey, column.isOptional == present.isNotNull {
            let reason =
                column.isOptional
                ? "the column is NOT NULL, but the property is optional: saving nil fails"
                : "the column may hold NULL, but the property is not optional: such a row cannot be decoded"
            found.append(Difference(column: column.name, reason: reason, isOfKey: false))
        }
        return found
    }
}

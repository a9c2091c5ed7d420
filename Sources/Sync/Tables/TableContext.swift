import GRDB
import Journal

/// One table of this file as merging needs it: the columns of all machines in one numbering.
///
/// The common column space starts with the columns of the local table, primary key first, in the order of
/// ``TableInspection/stored``. Columns that only other machines have follow in the order of their first
/// appearance.
final class TableContext {
    let tableID: Int64
    /// nil when this file has no such table, or does not track it.
    let inspection: TableInspection?
    let collations: [KeyCollation]
    /// The foreign keys of the table.
    let foreignKeys: [ForeignKey]
    /// The foreign keys of all tables that refer to this one.
    let references: [ForeignKey]
    /// The columns of ``foreignKeys``.
    let childColumns: ColumnMask
    /// The columns that ``references`` refer to.
    let referencedColumns: ColumnMask
    /// True when the spelling of a key is part of the merged state: see ``decided(_:by:of:)``.
    let hasKeySpellings: Bool
    /// How concurrent changes of the table merge.
    let policy: MergePolicy
    /// False for a table with a ``MergePolicy`` of its own.
    let mergesByColumn: Bool
    /// One for each key column of the local table.
    private let keyStorage: [KeyStorage]
    /// True for ``MergePolicy/row``: the change that loses, loses all its columns.
    let losesWhole: Bool
    /// ``childColumns`` and ``referencedColumns``. A change of other columns cannot affect a foreign key.
    let linkedColumns: ColumnMask
    /// The columns of all machines, those of the table here first.
    private var space: ColumnSpace

    init(
        tableID: Int64, inspection: TableInspection?, collations: [KeyCollation], foreignKeys: [ForeignKey],
        policy: MergePolicy, references: [ForeignKey]
    ) {
        self.tableID = tableID
        self.inspection = inspection
        self.collations = collations
        self.foreignKeys = foreignKeys
        self.references = references
        keyStorage =
            inspection.map { table in
                table.stored.prefix(table.keyCount).map { KeyStorage($0, isStrict: table.isStrict) }
            } ?? []
        self.policy = policy
        mergesByColumn = policy == .column
        losesWhole = policy == .row
        hasKeySpellings = inspection?.hasKeySpellings ?? false
        var childColumns = ColumnMask()
        for key in foreignKeys { for column in key.childColumns { childColumns.insert(column) } }
        self.childColumns = childColumns
        let referencedNames = Set(references.flatMap(\.parentColumns).map(SQLText.foldedName))
        var referencedColumns = ColumnMask()
        for (index, column) in (inspection?.stored ?? []).enumerated()
        where referencedNames.contains(SQLText.foldedName(column.name)) { referencedColumns.insert(index) }
        self.referencedColumns = referencedColumns
        var linkedColumns = childColumns
        linkedColumns.formUnion(referencedColumns)
        self.linkedColumns = linkedColumns
        space = ColumnSpace(columns: inspection?.stored.map(\.name) ?? [], keyCount: inspection?.keyCount ?? 0)
    }

    /// The number of columns of the local table.
    var storedCount: Int { inspection?.stored.count ?? 0 }
    var keyCount: Int { space.keyCount }

    /// False when the local table would convert the key to another one.
    ///
    /// - Parameter values: The key; other values may follow.
    func keeps(_ values: ArraySlice<Value>) -> Bool {
        let count = min(keyStorage.count, values.count)
        return values.withUnsafeBufferPointer { values in
            for index in 0..<count where !keyStorage[index].keeps(values[index]) { return false }
            return true
        }
    }

    var names: [String] { space.names }

    /// How the columns of a shape map into the common space.
    func translation(of entry: ShapeRegistry.Entry) -> ColumnSpace.Translation { space.translation(of: entry) }

    /// The non-key columns of `mask`, which is a mask of the shape `entry`, in the common space.
    func columns(_ mask: ColumnMask, of entry: ShapeRegistry.Entry) -> ColumnMask {
        let translation = translation(of: entry)
        var result = ColumnMask()
        mask.forEach { column in
            if column >= entry.shape.keyCount { result.insert(translation.positions[column]) }
        }
        return result
    }

    /// The columns of its row that a change with `mask` sets, in the common space: the columns that it
    /// carries, and for an insert also the key columns where keys with different bytes name one row ('a' and
    /// 'A' under NOCASE).
    func decided(
        _ mask: ColumnMask, by operation: Journal.Operation, of entry: ShapeRegistry.Entry
    ) -> ColumnMask {
        var result = columns(mask, of: entry)
        if hasKeySpellings, operation == .insert, translation(of: entry).hasSameKey {
            for column in 0..<keyCount { result.insert(column) }
        }
        return result
    }

    /// The values of a change by position in the common space; nil where the change carries no value.
    func row(_ change: Change, of entry: ShapeRegistry.Entry, values: ArraySlice<Value>) -> [Value?] {
        let translation = translation(of: entry)
        var row = [Value?](repeating: nil, count: names.count)
        var next = values.startIndex
        for column in 0..<entry.shape.keyCount {
            row[translation.positions[column]] = values[next]
            next += 1
        }
        change.mask.forEach { column in
            guard column >= entry.shape.keyCount else { return }
            row[translation.positions[column]] = values[next]
            next += 1
        }
        return row
    }
}

import GRDB
import Journal

/// One table of this file as merging needs it: the columns of every machine in one numbering, and its prepared statements.
///
/// The common column space starts with the columns that the table has here, primary key first, in the order of
/// ``TableInspection/stored``; columns that only other machines have follow as they turn up.
final class TableContext {
    let tableID: Int64
    /// nil when there is no such table here, or one that is not tracked.
    let inspection: TableInspection?
    let collations: [KeyCollation]
    /// The foreign keys of the table, and those of others that refer to it.
    let foreignKeys: [ForeignKey]
    let references: [ForeignKey]
    /// The columns that ``foreignKeys`` consist of, and those that ``references`` refer to.
    let childColumns: ColumnMask
    let referencedColumns: ColumnMask
    /// True when the merged state decides how a key is spelled: see ``decided(_:by:of:)``.
    let hasKeySpellings: Bool
    /// False for a table with a ``MergePolicy`` of its own.
    let mergesByColumn: Bool
    /// One for each key column of the table here.
    private let keyStorage: [KeyStorage]
    /// True for ``MergePolicy/row``: what loses loses all it wrote.
    let losesWhole: Bool
    /// Both of them: a change of other columns leaves foreign keys as they are.
    let linkedColumns: ColumnMask
    private(set) var names: [String]
    private var positions: [String: Int]
    private var translations: [Int64: Translation] = [:]

    /// How the columns of a shape map into the common space.
    struct Translation {
        let positions: [Int]
        /// True when every column stands at its own number.
        let isIdentity: Bool
        /// False when the shape's primary key is not this table's.
        let hasSameKey: Bool
    }

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
        names = inspection?.stored.map(\.name) ?? []
        positions = Dictionary(
            names.enumerated().map { (SQLText.foldedName($1), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The number of the columns that the table has here.
    var storedCount: Int { inspection?.stored.count ?? 0 }
    var keyCount: Int { inspection?.keyCount ?? 0 }

    /// False when the table here would store a key as another one.
    ///
    /// - Parameter values: The key; other values may follow.
    func keeps(_ values: ArraySlice<Value>) -> Bool {
        let count = min(keyStorage.count, values.count)
        return values.withUnsafeBufferPointer { values in
            for index in 0..<count where !keyStorage[index].keeps(values[index]) { return false }
            return true
        }
    }

    func translation(of entry: ShapeRegistry.Entry) -> Translation {
        if let known = translations[entry.id] { return known }
        let mapped = entry.shape.columns.map { name -> Int in
            let folded = SQLText.foldedName(name)
            if let position = positions[folded] { return position }
            positions[folded] = names.count
            names.append(name)
            return names.count - 1
        }
        let translation = Translation(
            positions: mapped, isIdentity: mapped == Array(mapped.indices),
            hasSameKey: inspection != nil && entry.shape.keyCount == keyCount
                && Array(mapped.prefix(keyCount)) == Array(0..<keyCount))
        translations[entry.id] = translation
        return translation
    }

    /// The non-key columns of `mask`, a mask of the shape `entry`, in the common space.
    func columns(_ mask: ColumnMask, of entry: ShapeRegistry.Entry) -> ColumnMask {
        let translation = translation(of: entry)
        var result = ColumnMask()
        mask.forEach { column in
            if column >= entry.shape.keyCount { result.insert(translation.positions[column]) }
        }
        return result
    }

    /// What a change with `mask` decides of its row, in the common space: the columns that it carries; and with an insert how the
    /// key is spelled, where keys of different content stand for one row ('a' and 'A' under NOCASE).
    func decided(
        _ mask: ColumnMask, by operation: Journal.Operation, of entry: ShapeRegistry.Entry
    ) -> ColumnMask {
        var result = columns(mask, of: entry)
        if hasKeySpellings, operation == .insert, translation(of: entry).hasSameKey {
            for column in 0..<keyCount { result.insert(column) }
        }
        return result
    }

    /// The values of a change by position in the common space; nil where the change carries none.
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

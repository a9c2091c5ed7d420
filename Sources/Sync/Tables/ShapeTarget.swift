import Journal

/// Where the changes of one shape go: what is the same for all of them, looked up once.
final class ShapeTarget {
    let entry: ShapeRegistry.Entry
    let context: TableContext
    let keyCount: Int
    let allColumns: ColumnMask
    /// nil when no row of the shape can be shown: there is no such table here, or one with another key.
    let writer: RowWriter?
    /// True when the table here begins with the shape's columns, so that values need no reordering.
    private let isDirect: Bool

    init(entry: ShapeRegistry.Entry, context: TableContext, writer: RowWriter?) {
        self.entry = entry
        self.context = context
        self.writer = writer
        keyCount = entry.shape.keyCount
        allColumns = ColumnMask(all: entry.shape.columns.count)
        isDirect = context.translation(of: entry).isIdentity && entry.shape.columns.count <= context.storedCount
    }

    /// True when rows can be inserted with the values as changes like `change` carry them.
    func canInsert(_ change: Change) -> Bool {
        isDirect && change.operation == .insert && change.values.count == entry.shape.columns.count
    }

    /// True when a statement by key does all that changes like `change` do: they touch no foreign key, nor the key itself.
    func canUpdate(_ change: Change) -> Bool {
        isDirect && change.operation == .update && !change.mask.isEmpty
            && change.mask.isDisjoint(with: context.linkedColumns, ignoring: 0)
            && change.mask.isDisjoint(with: ColumnMask(all: keyCount), ignoring: 0)
    }
}

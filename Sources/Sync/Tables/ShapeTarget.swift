import Journal

/// The destination of the changes of one shape: what is the same for all of them, looked up once.
final class ShapeTarget {
    let entry: ShapeRegistry.Entry
    let context: TableContext
    let keyCount: Int
    let allColumns: ColumnMask
    /// nil when no row of the shape can be shown: this file has no such table, or one with another primary
    /// key.
    let writer: RowWriter?
    /// True when the local table begins with the shape's columns, so that values need no reordering.
    private let isDirect: Bool

    init(entry: ShapeRegistry.Entry, context: TableContext, writer: RowWriter?) {
        self.entry = entry
        self.context = context
        self.writer = writer
        keyCount = entry.shape.keyCount
        allColumns = ColumnMask(all: entry.shape.columns.count)
        isDirect = context.translation(of: entry).isIdentity && entry.shape.columns.count <= context.storedCount
    }

    /// True when the values of changes like `change` can be inserted as they are.
    func canInsert(_ change: Change) -> Bool {
        isDirect && change.operation == .insert && change.values.count == entry.shape.columns.count
    }

    /// True when one UPDATE by key applies changes like `change`. They touch no foreign key of the table, no
    /// column that others refer to, and not the primary key.
    func canUpdate(_ change: Change) -> Bool {
        isDirect && change.operation == .update && !change.mask.isEmpty
            && change.mask.isDisjoint(with: context.linkedColumns, ignoring: 0)
            && change.mask.isDisjoint(with: ColumnMask(all: keyCount), ignoring: 0)
    }
}

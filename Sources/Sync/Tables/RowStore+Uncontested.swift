import GRDBSQLite
import Journal

/// Changes without unseen writes: their values are written without reading the row.
extension RowStore {
    /// Applies inserts or updates without competing writes, in a table that is not beside held rows.
    ///
    /// - Parameter stretch: Positions in ``ChangeBatch/changes`` of changes that are alike
    ///   (``Change/isLike(_:)``).
    /// - Returns: The position after the last change that was applied: the end of `stretch`, or the position
    ///   after the first row that had to be held.
    func applyUncontested(_ stretch: Range<Int>, of batch: ChangeBatch, to target: ShapeTarget) throws -> Int {
        guard let writer = target.writer else { return stretch.upperBound }
        let kind = batch.changes[stretch.lowerBound]
        let write: DirectWrite? =
            if target.canInsert(kind) {
                .insert
            } else if target.canUpdate(kind) {
                .update(try writer.update(of: kind.mask))
            } else {
                nil
            }
        var insertsBatches = true
        var next = stretch.lowerBound
        while next < stretch.upperBound {
            let change = batch.changes[next]
            let values = batch.values[change.values]
            if let write, target.context.keeps(values) {
                switch write {
                case .insert:
                    if insertsBatches,
                        let end = try insertBatch(
                            next..<stretch.upperBound, of: batch, to: target, writer, &insertsBatches)
                    {
                        next = end
                        continue
                    }
                    if try writer.insert(target.allColumns, values: values) == SQLITE_DONE {
                        try noteIfOrphan(values, in: target)
                        next += 1
                        continue
                    }
                case .update(let statement):
                    if try writer.run(statement, values: values, keyCount: target.keyCount) {
                        next += 1
                        continue
                    }
                }
            }
            try writeUncontested(change, values: values, to: target)
            next += 1
            if isBesideHeldRows(target.context) { break }
        }
        return next
    }

    /// A statement that does everything that a change does.
    private enum DirectWrite {
        case insert
        case update(RawStatement)
    }

    /// Inserts the first rows of `stretch` with one statement.
    ///
    /// - Parameter isUseful: Set to false when a row was refused. Some rows before it may have been inserted
    ///   then. Writing them again does no harm, and most often the rows that follow are refused as well.
    /// - Returns: The position after the last inserted row; nil when there are too few rows, or when one of
    ///   them cannot be inserted.
    private func insertBatch(
        _ stretch: Range<Int>, of batch: ChangeBatch, to target: ShapeTarget, _ writer: RowWriter,
        _ isUseful: inout Bool
    ) throws -> Int? {
        let width = target.entry.shape.columns.count
        let rows = stretch.prefix(RowWriter.batchSize(width: width))
        guard rows.count == RowWriter.batchSize(width: width), rows.count > 1,
            rows.allSatisfy({ target.context.keeps(batch.values[batch.changes[$0].values]) })
        else { return nil }
        // The values of consecutive changes are adjacent.
        let first = batch.changes[rows.startIndex].values.lowerBound
        guard try writer.insertBatch(batch.values[first..<(first + rows.count * width)], width: width) else {
            isUseful = false
            return nil
        }
        for row in rows { try noteIfOrphan(batch.values[batch.changes[row].values], in: target) }
        return rows.endIndex
    }

    private func noteIfOrphan(_ values: ArraySlice<Value>, in target: ShapeTarget) throws {
        guard !target.context.foreignKeys.isEmpty, let table = target.context.inspection else { return }
        try noteIfOrphan(table, context: target.context, keys: values.prefix(target.keyCount)) { column in
            column < values.count ? values[values.startIndex + column] : nil
        }
    }

    /// Applies a change that one statement cannot apply: the row to insert is there already, the row to
    /// update is missing, a constraint refuses it, or the shape's columns differ from those of the local
    /// table.
    private func writeUncontested(_ change: Change, values: ArraySlice<Value>, to target: ShapeTarget) throws {
        let (context, entry) = (target.context, target.entry)
        guard let table = context.inspection else { return }
        let keys = values.prefix(target.keyCount)
        let key = TableKey(table: entry.table, key: Key(keys, collations: context.collations))
        guard context.keeps(keys) else {
            let columns = context.columns(change.mask, of: entry)
            return try apply(
                .write(columns), toMisfit: key, isNewLife: false, change, context: context, entry: entry, values: values
            )
        }
        try write(
            context.decided(change.mask, by: change.operation, of: entry), isWhole: change.operation == .insert,
            row: RowID(key: key, context: context, table: table, values: Array(keys)),
            image: context.row(change, of: entry, values: values))
    }
}

extension Change {
    /// True when both do the same to the same columns of rows of one table, whatever their keys and values.
    func isLike(_ other: Change) -> Bool {
        shape == other.shape && operation == other.operation && life == other.life && mask == other.mask
    }
}

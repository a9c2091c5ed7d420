/// What stands for a change whose table a replica does not have: a leaf has some tables only.
///
/// Versions of an origin have no gaps, so a leaf gets something for each of them. It keeps the version, the stamp and
/// the end of a transaction, and nothing of the table, the key and the values.
extension TableShape {
    /// The shape of every hidden change. No table of a program can have its name.
    package static let hidden = TableShape(table: "_journal_hidden", columns: ["version"], keyCount: 1)

    /// True for the shape of hidden changes.
    package var isHidden: Bool { table == TableShape.hidden.table }
}

extension ChangeBatch {
    /// True when one of the changes is hidden.
    package var hasHiddenChanges: Bool { shapes.contains(where: \.isHidden) }

    /// Returns the batch with hidden changes in place of those of some tables, and without the names of these tables.
    ///
    /// - Parameter isHidden: Tells by the name of a table whether its changes are hidden.
    package func hiding(_ isHidden: (String) -> Bool) -> ChangeBatch {
        let hides = shapes.map { $0.isHidden || isHidden($0.table) }
        guard hides.contains(true) else { return self }
        var batch = ChangeBatch()
        batch.runs = runs
        batch.changes.reserveCapacity(changes.count)
        var places: [Int: Int] = [:]
        for (index, shape) in shapes.enumerated() where !hides[index] {
            places[index] = batch.shapes.count
            batch.shapes.append(shape)
        }
        let hidden = batch.shapes.count
        batch.shapes.append(.hidden)
        for run in runs {
            for index in run.changes {
                var change = changes[index]
                let start = batch.values.count
                if let shape = places[change.shape] {
                    change.shape = shape
                    batch.values += values[change.values]
                } else {
                    batch.values.append(.integer(run.firstVersion + Int64(index - run.changes.lowerBound)))
                    change = Change(
                        shape: hidden, operation: .delete, life: 2, stamp: change.stamp, mask: ColumnMask(),
                        values: start..<start, endsTransaction: change.endsTransaction)
                }
                change.values = start..<batch.values.count
                batch.changes.append(change)
            }
        }
        return batch
    }
}

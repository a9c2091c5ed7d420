import GRDB

/// A row as the writer of one of its changes had it, rebuilt from the journal.
///
/// It costs one pass over the journal for each row, because the journal has no index by key: writers would
/// pay for one.
struct RowHistory {
    let db: Database
    let reader: JournalReader

    /// Returns the columns of the row of `entry` right after that change, as far as the journal holds them.
    ///
    /// They are the result of merging the changes that the writer of `entry` had seen, including `entry`
    /// itself. Only changes of the same life count. When the table's policy is a function, each column shows
    /// its latest change.
    func columns(after entry: JournalEntry) throws -> [ConflictEntry.Column] {
        let own = reader.identity.origin
        let origin = entry.origin ?? own
        let known = try reader.runs.run(of: origin, holding: entry.version)?.known ?? VersionVector()
        var space = ColumnSpace(columns: entry.shape.columns, keyCount: entry.shape.keyCount)
        let policy = try MergePolicies(db, names: reader.registry.names)[entry.shape.table]
        var row = MergedRow<Value>(policy: policy)
        for (_, other) in try reader.entries(at: positions(ofKeyLike: entry)).sorted(by: { $0.key < $1.key }) {
            let writer = other.origin ?? own
            let isSeen = writer == origin ? other.version <= entry.version : known[writer] >= other.version
            guard isSeen, other.life == entry.life, other.key == entry.key,
                let change = other.rowChange(in: space.translation(of: other.shape), own: own)
            else { continue }
            row.add(change)
        }
        let cells = row.row() ?? row.latestCells
        return zip(space.names, cells).compactMap { name, cell in cell.map { (column: name, value: $0) } }
    }

    /// Returns the latest insert of the greatest life among the changes of the key of `entry`; nil when there
    /// is none.
    func latestInsert(ofKeyLike entry: JournalEntry) throws -> JournalEntry? {
        let own = reader.identity.origin
        return try reader.entries(at: positions(ofKeyLike: entry)).values
            .filter { $0.operation == .insert && $0.key == entry.key }
            .max {
                ($0.life, $0.stamp, $0.origin ?? own) < ($1.life, $1.stamp, $1.origin ?? own)
            }
    }

    /// Returns the positions of all entries whose key may equal that of `entry`. SQL's comparison finds at
    /// least the keys that ``Key`` considers equal.
    private func positions(ofKeyLike entry: JournalEntry) throws -> [Int64] {
        let keyCount = entry.shape.keyCount
        let siblings = reader.registry.entries.values.filter {
            $0.table == entry.tableID && $0.shape.keyCount == keyCount
        }
        let collations = siblings.first { $0.isTracked }?.collations ?? []
        let conditions = (0..<keyCount).map { index in
            "v\(index) = ? COLLATE \((index < collations.count ? collations[index] : .binary).rawValue)"
        }
        let shapes = siblings.map { String($0.id) }.sorted().joined(separator: ", ")
        let statement = try RawStatement(
            db, "SELECT seq FROM _journal WHERE shape IN (\(shapes)) AND \(conditions.joined(separator: " AND "))")
        for (index, value) in entry.keyValues.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
        var positions: [Int64] = []
        while try statement.step() { positions.append(statement.int64(0)) }
        return positions
    }
}

extension JournalEntry {
    /// The change in the form that ``MergedRow`` needs; nil when its primary key is not that of the column
    /// space.
    func rowChange(in translation: ColumnSpace.Translation, own: OriginID) -> RowChange<Value>? {
        guard translation.hasSameKey else { return nil }
        var cells: [(column: Int, cell: Value)] = []
        var next = shape.keyCount
        mask.forEach { column in
            guard column >= shape.keyCount else { return }
            cells.append((translation.positions[column], values[next]))
            next += 1
        }
        return RowChange(
            order: order(own: own), version: version, known: known, life: life,
            operation: operation, key: Array(keyValues), cells: cells)
    }
}

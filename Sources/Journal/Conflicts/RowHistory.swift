import GRDB

/// A row as the writer of one of its changes had it, rebuilt from the journal.
///
/// Costs one pass over the journal for each row: the writer's path carries no index by key.
struct RowHistory {
    let db: Database
    let reader: JournalReader

    /// The columns of the row that `entry` is about, right after it, as far as the journal still tells.
    ///
    /// Of each column the value that wins among the changes that the writer of `entry` had seen, itself included; only those
    /// of the same life count.
    func columns(after entry: JournalEntry) throws -> [ConflictEntry.Column] {
        let origin = entry.origin ?? reader.identity.origin
        let known = try reader.runs.run(of: origin, holding: entry.version)?.known ?? VersionVector()
        let seen = try reader.entries(at: positions(ofKeyLike: entry)).values.filter { other in
            let otherOrigin = other.origin ?? reader.identity.origin
            let isSeen = otherOrigin == origin ? other.version <= entry.version : known[otherOrigin] >= other.version
            return isSeen && other.life == entry.life && other.key == entry.key
        }
        let own = reader.identity.origin
        var columns: [ConflictEntry.Column] = []
        var places: [String: Int] = [:]
        for change in seen.sorted(by: { ($0.stamp, $0.origin ?? own) < ($1.stamp, $1.origin ?? own) }) {
            for (name, value) in change.columns {
                if let place = places[SQLText.foldedName(name)] {
                    columns[place] = (column: name, value: value)
                } else {
                    places[SQLText.foldedName(name)] = columns.count
                    columns.append((column: name, value: value))
                }
            }
        }
        return columns
    }

    /// The positions of all entries whose key may be that of `entry`; SQL's comparison is at least as wide as ``Key``'s.
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

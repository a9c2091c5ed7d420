import Journal
import TestSupport

/// A change as a journal holds it.
struct StoredChange {
    let origin: OriginID
    let version: Int64
    let table: String
    let operation: Journal.Operation
    let life: Int64
    let stamp: Stamp
    let key: [Value]
    /// The columns that the change writes.
    let columns: [(name: String, value: Value)]
    let digest: UInt64

    /// The name of the transaction that the change belongs to, if this is the change that tells it.
    var token: String? {
        guard table == "token", operation == .insert, case .text(let name) = key[0] else { return nil }
        return String(decoding: name, as: UTF8.self)
    }

    static func all(in batch: ChangeBatch) -> [StoredChange] {
        batch.runs.flatMap { run in
            run.changes.map { index in
                let change = batch.changes[index]
                let shape = batch.shapes[change.shape]
                let values = batch.values[change.values]
                var columns: [(name: String, value: Value)] = []
                var rest = values.dropFirst(shape.keyCount).makeIterator()
                change.mask.forEach { column in
                    guard column >= shape.keyCount, let value = rest.next() else { return }
                    columns.append((shape.columns[column], value))
                }
                return StoredChange(
                    origin: run.origin, version: run.firstVersion + Int64(index - run.changes.lowerBound),
                    table: shape.table, operation: change.operation, life: change.life, stamp: change.stamp,
                    key: Array(values.prefix(shape.keyCount)), columns: columns,
                    digest: ChangeDigest.of(
                        table: shape.table, operation: change.operation, stamp: change.stamp, values: values))
            }
        }
    }
}

/// Changes that journals held at some time. A file must still show what compaction removed from its journal.
struct StoredChanges {
    private struct Name: Hashable {
        let origin: OriginID
        let version: Int64

        init(_ change: StoredChange) { (origin, version) = (change.origin, change.version) }
    }

    private var changes: [Name: StoredChange] = [:]

    mutating func add(_ new: [StoredChange]) { for change in new { changes[Name(change)] = change } }

    /// The changes up to the horizon of a file that its journal does not hold.
    func compacted(upTo horizon: VersionVector, without present: [StoredChange]) -> [StoredChange] {
        guard !horizon.isEmpty else { return [] }
        let present = Set(present.map(Name.init))
        return changes.filter { $0.key.version <= horizon[$0.key.origin] && !present.contains($0.key) }.values.sorted {
            ($0.origin, $0.version) < ($1.origin, $1.version)
        }
    }
}

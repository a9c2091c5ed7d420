import Journal

/// The changes of one of the origins of a ``Rebase``, as a batch.
struct RebasedBatch {
    let origin: OriginID
    private var batch = ChangeBatch()
    private var shapes: [TableShape: Int] = [:]
    private let known: VersionVector

    /// - Parameter known: What the writer had seen.
    init(origin: OriginID, known: VersionVector) {
        self.origin = origin
        self.known = known
    }

    var count: Int { batch.changes.count }

    /// Adds a change.
    ///
    /// - Parameters:
    ///   - entry: The table as the file that takes the batch has it.
    ///   - stamp: Later than those before.
    mutating func add(_ write: Rebase.Write, key: [Value], of entry: ShapeRegistry.Entry, stamp: Stamp) {
        // A shape that names just what the change carries: what it does not carry has its default.
        let keyColumns = Array(entry.shape.keyColumns)
        let shape = TableShape(
            table: entry.wireName,
            columns: write.operation == .insert
                ? keyColumns + write.columns.map(\.name) : entry.shape.columns,
            keyCount: entry.shape.keyCount)
        var mask = ColumnMask()
        var values = key
        switch write.operation {
        case .insert:
            mask = ColumnMask(all: shape.columns.count)
            values += write.columns.map(\.value)
        case .update:
            let new = Dictionary(
                write.columns.map { (SQLText.foldedName($0.name), $0.value) }, uniquingKeysWith: { $1 })
            for (index, column) in shape.columns.enumerated().dropFirst(shape.keyCount) {
                guard let value = new[SQLText.foldedName(column)] else { continue }
                mask.insert(index)
                values.append(value)
            }
            guard !mask.isEmpty else { return }
        case .delete: break
        }
        let start = batch.values.count
        batch.values += values
        batch.changes.append(
            Change(
                shape: number(of: shape), operation: write.operation, life: write.life, stamp: stamp, mask: mask,
                values: start..<batch.values.count, endsTransaction: false, isMinted: write.isMinted))
    }

    private mutating func number(of shape: TableShape) -> Int {
        if let known = shapes[shape] { return known }
        shapes[shape] = batch.shapes.count
        batch.shapes.append(shape)
        return batch.shapes.count - 1
    }

    /// The changes as one transaction; nil when there are none.
    func finished() -> ChangeBatch? {
        guard !batch.isEmpty else { return nil }
        var batch = batch
        batch.changes[batch.changes.count - 1].endsTransaction = true
        batch.runs = [Run(origin: origin, firstVersion: 1, changes: 0..<batch.changes.count, known: known)]
        return batch
    }
}

import Journal

/// Parts of transactions whose ends have not come, in memory, as long as they are few.
///
/// Most transactions larger than a batch arrive whole within one exchange; writing their parts to ``Staging`` first would write and
/// read everything twice. Parts that are lost with the process are asked for again: only what is in the file was acknowledged.
struct PendingParts {
    private struct Part {
        let batch: ChangeBatch
        /// In bytes.
        let weight: Int
    }

    private var parts: [OriginID: [Part]] = [:]
    private var weight = 0

    var isEmpty: Bool { parts.isEmpty }
    var origins: [OriginID] { parts.keys.sorted() }

    /// `vector`, raised by what is pending.
    func raise(_ vector: VersionVector) -> VersionVector {
        var vector = vector
        for (origin, parts) in parts {
            if let last = parts.last?.batch.runs.last { vector.advance(origin, to: last.lastVersion) }
        }
        return vector
    }

    /// - Returns: False when the part would make memory grow beyond `limit` bytes; then it is not kept.
    mutating func append(_ part: ChangeBatch, of origin: OriginID, limit: Int) -> Bool {
        let size = PendingParts.weight(of: part)
        guard weight + size <= limit else { return false }
        weight += size
        parts[origin, default: []].append(Part(batch: part, weight: size))
        return true
    }

    /// Hands over and forgets what is pending of `origin`, oldest first.
    mutating func take(_ origin: OriginID) -> [ChangeBatch] {
        let taken = parts.removeValue(forKey: origin) ?? []
        weight -= taken.reduce(0) { $0 + $1.weight }
        return taken.map(\.batch)
    }

    /// Everything that a batch can be made large by counts, or a peer could fill the memory with what does not.
    private static func weight(of batch: ChangeBatch) -> Int {
        let values = batch.values.reduce(0) { $0 + $1.weight + MemoryLayout<Value>.stride }
        let changes = batch.changes.count * MemoryLayout<Change>.stride
        let known = batch.runs.reduce(0) { $0 + 64 + $1.known.entries.count * 24 }
        let names = batch.shapes.reduce(0) { sum, shape in
            shape.columns.reduce(sum + 64 + shape.table.utf8.count) { $0 + 16 + $1.utf8.count }
        }
        return values + changes + known + names
    }
}

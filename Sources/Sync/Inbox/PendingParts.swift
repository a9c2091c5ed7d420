import Journal

/// Parts of transactions whose ends have not arrived, in memory up to a limit.
///
/// Most transactions larger than a batch arrive completely within one exchange. Writing their parts to
/// ``Staging`` first would write and read everything twice. Parts that are lost with the process are
/// requested again, because only what is in the file was acknowledged.
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

    /// `vector`, raised by the pending parts.
    func raise(_ vector: VersionVector) -> VersionVector {
        var vector = vector
        for (origin, parts) in parts {
            if let last = parts.last?.batch.runs.last { vector.advance(origin, to: last.lastVersion) }
        }
        return vector
    }

    /// Keeps a part.
    ///
    /// - Returns: False when all parts together would exceed `limit` bytes; the part is not kept then.
    mutating func append(_ part: ChangeBatch, of origin: OriginID, limit: Int) -> Bool {
        let size = PendingParts.weight(of: part)
        guard weight + size <= limit else { return false }
        weight += size
        parts[origin, default: []].append(Part(batch: part, weight: size))
        return true
    }

    /// Removes and returns the pending parts of `origin`, oldest first.
    mutating func take(_ origin: OriginID) -> [ChangeBatch] {
        let taken = parts.removeValue(forKey: origin) ?? []
        weight -= taken.reduce(0) { $0 + $1.weight }
        return taken.map(\.batch)
    }

    /// The memory that a batch takes, in bytes, approximately. It counts everything that can make a batch
    /// large: a peer could fill the memory with anything that is not counted.
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

import Journal

/// Builds a batch from the columns of a wire message whose counts ``BatchScan`` has found to agree.
///
/// No number of the message is trusted: it is checked before it is used as a position, and sums are checked
/// before they can overflow.
struct BatchDecoder {
    let message: Tandem_V1_ChangeBatch
    let limits: Limits

    func decode() throws(WireError) -> ChangeBatch {
        var batch = ChangeBatch()
        batch.shapes = try message.shapes.map { shape throws(WireError) in try TableShape(shape, limits: limits) }
        batch.runs = try runs()
        var columns = ValueColumns()
        columns.types = [UInt8](message.valueTypes)
        columns.integers = message.integers
        columns.reals = message.reals
        columns.lengths = message.lengths
        columns.content = [UInt8](message.content)
        batch.values = try columns.values()
        batch.changes = try changes(kinds: kinds(shapes: batch.shapes))
        return batch
    }

    // MARK: Runs

    private func runs() throws(WireError) -> [Run] {
        let origins = try message.origins.map { bytes throws(WireError) in
            guard let origin = OriginID(bytes: bytes) else { throw .malformed("an origin is not 16 valid bytes") }
            return origin
        }
        var runs: [Run] = []
        runs.reserveCapacity(message.runOrigins.count)
        var latestKnown: [VersionVector?] = Array(repeating: nil, count: origins.count)
        var change = 0
        var known = 0
        var written = 0
        for index in message.runOrigins.indices {
            let origin = Int(message.runOrigins[index])
            let length = Int(message.runLengths[index])
            let first = message.runFirstVersions[index]
            guard origin < origins.count else { throw .malformed("a run of an unknown origin") }
            guard length > 0, length <= message.changeKinds.count - change else {
                throw .malformed("a run reaches beyond the changes")
            }
            guard first > 0, first <= limits.versions - Int64(length) else {
                throw .malformed("a version out of range")
            }
            let count = Int(message.runKnownCounts[index])
            guard count <= message.knownOrigins.count - known else { throw .malformed("known versions are missing") }
            var vector = VersionVector()
            if message.runAdds[index] {
                guard let latest = latestKnown[origin] else { throw .malformed("a run adds to a missing run") }
                vector = latest
            }
            written += vector.entries.count + count
            guard written <= limits.knownEntriesPerBatch else {
                throw .tooLarge("\(written) known versions in a batch")
            }
            try add(known..<(known + count), to: &vector, origins: origins, own: origin)
            latestKnown[origin] = vector
            runs.append(
                Run(
                    origin: origins[origin], firstVersion: first, changes: change..<(change + length), known: vector))
            change += length
            known += count
        }
        guard known == message.knownOrigins.count else { throw .malformed("known versions are left over") }
        return runs
    }

    /// Adds known versions to a vector. The entries must ascend by origin and each must raise the vector, so
    /// a vector has only one encoding and needs no sorting.
    private func add(
        _ range: Range<Int>, to vector: inout VersionVector, origins: [OriginID], own: Int
    ) throws(WireError) {
        var previous: OriginID?
        for index in range {
            let position = Int(message.knownOrigins[index])
            let version = message.knownVersions[index]
            guard position < origins.count, position != own else { throw .malformed("a known origin out of range") }
            let origin = origins[position]
            if let previous, previous >= origin { throw .malformed("known origins are not ascending") }
            previous = origin
            guard version > vector[origin], version <= limits.versions else {
                throw .malformed("a known version out of range")
            }
            vector.advance(origin, to: version)
        }
    }

    // MARK: Changes

    private struct Kind {
        let shape: Int
        let operation: Operation
        let mask: ColumnMask
        let valueCount: Int
        let isKeyChange: Bool
        let isMinted: Bool
        let isCovering: Bool
        /// The name of a migration.
        let migration: String?
    }

    private func kinds(shapes: [TableShape]) throws(WireError) -> [Kind] {
        let migrations = try message.migrations.map { name throws(WireError) in try wireName(name, limits: limits) }
        return try message.kinds.map { kind throws(WireError) in
            let index = Int(kind.shape)
            guard index < shapes.count else { throw .malformed("a change of an unknown shape") }
            guard let operation = Operation(rawValue: Int64(kind.operation)) else {
                throw .malformed("an unknown operation")
            }
            let shape = shapes[index]
            guard kind.mask.count <= shape.columns.count / ColumnMask.bitsPerWord + 1 else {
                throw .malformed("a column outside of its shape")
            }
            let mask = ColumnMask(words: kind.mask)
            guard operation != .delete || mask.isEmpty else { throw .malformed("a delete that carries columns") }
            guard operation == .delete || !kind.keyChange else { throw .malformed("a key change that deletes nothing") }
            guard !kind.minted || operation == .insert && shape.keyCount == 1 else {
                throw .malformed("a minted key without its insert")
            }
            guard !kind.covering || kind.minted else { throw .malformed("a key of a held row that was not minted") }
            guard kind.migration == 0 || operation == .update else {
                throw .malformed("a migration's change that is no update")
            }
            guard Int(kind.migration) <= migrations.count else { throw .malformed("a change of an unknown migration") }
            var count = shape.keyCount
            mask.forEach { if $0 >= shape.keyCount { count += 1 } }
            return Kind(
                shape: index, operation: operation, mask: mask, valueCount: count, isKeyChange: kind.keyChange,
                isMinted: kind.minted, isCovering: kind.covering,
                migration: kind.migration == 0 ? nil : migrations[Int(kind.migration) - 1])
        }
    }

    private func changes(kinds: [Kind]) throws(WireError) -> [Change] {
        var changes: [Change] = []
        changes.reserveCapacity(message.changeKinds.count)
        let valueCount = message.valueTypes.count
        var value = 0
        var stamp: Int64 = 0
        var ranked = 0
        for index in message.changeKinds.indices {
            let position = Int(message.changeKinds[index])
            guard position < kinds.count else { throw .malformed("a change of an unknown kind") }
            let kind = kinds[position]
            let (next, overflow) = stamp.addingReportingOverflow(message.stampDeltas[index])
            guard !overflow, next > 0 else { throw .malformed("a stamp out of range") }
            stamp = next
            guard kind.valueCount <= valueCount - value else { throw .malformed("values are missing") }
            var migration: MigrationRank?
            if let name = kind.migration {
                migration = try rank(at: ranked, ofMigration: name, before: stamp)
                ranked += 1
            }
            changes.append(
                Change(
                    shape: kind.shape, operation: kind.operation, life: kind.operation.usualLife,
                    stamp: Stamp(rawValue: stamp), mask: kind.mask, values: value..<(value + kind.valueCount),
                    endsTransaction: false, isKeyChange: kind.isKeyChange, isMinted: kind.isMinted,
                    isCovering: kind.isCovering, migration: migration))
            value += kind.valueCount
        }
        guard value == valueCount else { throw .malformed("values are left over") }
        guard ranked == message.migrationStamps.count else { throw .malformed("ranks of migrations are left over") }
        try setLives(in: &changes)
        try setTransactionEnds(in: &changes)
        return changes
    }

    /// The rank of the change with that number among those of migrations. What it found is older than itself.
    private func rank(at index: Int, ofMigration name: String, before stamp: Int64) throws(WireError) -> MigrationRank {
        guard index < message.migrationStamps.count else { throw .malformed("ranks of migrations are missing") }
        let (found, level) = (message.migrationStamps[index], message.migrationLevels[index])
        guard found >= 0, found < stamp, level > 0, level <= limits.versions else {
            throw .malformed("the rank of a migration out of range")
        }
        return MigrationRank(name: name, stamp: Stamp(rawValue: found), level: level)
    }

    private func setLives(in changes: inout [Change]) throws(WireError) {
        var next = 0
        for index in message.lives.indices {
            let skip = Int(message.lifeSkips[index])
            guard skip < changes.count - next else { throw .malformed("a life of no change") }
            let position = next + skip
            let life = message.lives[index]
            // Odd alive, even dead.
            let isDead = changes[position].operation == .delete
            guard life > 0, life <= limits.lives, life.isMultiple(of: 2) == isDead else {
                throw .malformed("a life out of range")
            }
            changes[position].life = life
            next = position + 1
        }
    }

    private func setTransactionEnds(in changes: inout [Change]) throws(WireError) {
        var next = 0
        for length in message.transactionLengths {
            guard length > 0, Int(length) <= changes.count - next else {
                throw .malformed("a transaction reaches beyond the changes")
            }
            next += Int(length)
            changes[next - 1].endsTransaction = true
        }
    }
}

extension TableShape {
    /// Reads a shape.
    ///
    /// - Throws: ``WireError`` unless there is a key, every name is non-empty UTF-8 without NUL, and no
    ///   column occurs twice.
    init(_ shape: Tandem_V1_ChangeBatch.Shape, limits: Limits) throws(WireError) {
        guard shape.columns.count <= limits.columnsPerShape else {
            throw .tooLarge("\(shape.columns.count) columns in a table")
        }
        let table = try wireName(shape.table, limits: limits)
        let columns = try shape.columns.map { name throws(WireError) in try wireName(name, limits: limits) }
        guard shape.keyCount > 0, Int(shape.keyCount) <= columns.count else {
            throw .malformed("a shape without a key")
        }
        // Compared as bytes, because String treats two Unicode normal forms of one name as equal. Folded as
        // SQLite compares names, which ignores the case of ASCII letters only.
        let folded = shape.columns.map { name in name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } }
        guard Set(folded).count == columns.count else {
            throw .malformed("a column occurs twice in a shape")
        }
        self.init(table: table, columns: columns, keyCount: Int(shape.keyCount))
    }
}

/// Reads a name of a table, a column or a cluster.
func wireName(_ bytes: some Collection<UInt8>, limits: Limits) throws(WireError) -> String {
    guard !bytes.isEmpty, bytes.count <= limits.nameBytes else { throw .malformed("a name of \(bytes.count) bytes") }
    guard !bytes.contains(0), let name = String(validating: bytes, as: UTF8.self) else {
        throw .malformed("a name that is not text")
    }
    return name
}

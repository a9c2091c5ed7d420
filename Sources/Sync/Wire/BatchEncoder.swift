import Journal

/// Sorts the properties of a batch's changes into the columns of the wire message.
struct BatchEncoder {
    private struct Kind: Hashable {
        let shape: Int
        let operation: Operation
        let mask: ColumnMask
        let isKeyChange: Bool
        let isMinted: Bool
        let isCovering: Bool
        let migration: String?
    }

    private(set) var message = Tandem_V1_ChangeBatch()
    private var origins: [OriginID: Int] = [:]
    private var migrations: [String: UInt32] = [:]

    /// The causal context of the latest run of each origin, by the origin's position in the message.
    private var latestKnown: [Int: VersionVector] = [:]

    mutating func append(_ batch: ChangeBatch) throws(WireError) {
        if let broken = batch.checkInvariants() { throw .malformed(broken) }
        guard !batch.isEmpty else { return }
        message.shapes = batch.shapes.map { Tandem_V1_ChangeBatch.Shape($0) }
        for run in batch.runs { append(run) }
        append(changes: batch.changes)
        var columns = ValueColumns()
        columns.types.reserveCapacity(batch.values.count)
        try columns.append(contentsOf: batch.values)
        message.valueTypes = wireData(columns.types)
        message.integers = columns.integers
        message.reals = columns.reals
        message.lengths = columns.lengths
        message.content = wireData(columns.content)
    }

    private mutating func append(_ run: Run) {
        let origin = position(of: run.origin)
        message.runOrigins.append(UInt32(truncatingIfNeeded: origin))
        message.runFirstVersions.append(run.firstVersion)
        message.runLengths.append(UInt32(truncatingIfNeeded: run.changes.count))
        var added = run.known.entries
        var adds = false
        if let latest = latestKnown[origin], run.known.covers(latest) {
            added.removeAll { latest[$0.origin] == $0.version }
            adds = true
        }
        message.runAdds.append(adds)
        message.runKnownCounts.append(UInt32(truncatingIfNeeded: added.count))
        for entry in added {
            message.knownOrigins.append(UInt32(truncatingIfNeeded: position(of: entry.origin)))
            message.knownVersions.append(entry.version)
        }
        latestKnown[origin] = run.known
    }

    private mutating func append(changes: [Change]) {
        var kinds: [Kind: UInt32] = [:]
        var latest: (kind: Kind, position: UInt32)?
        var stamp: Int64 = 0
        var skipped: UInt32 = 0
        var transaction: UInt32 = 0
        var positions: [UInt32] = []
        var deltas: [Int64] = []
        positions.reserveCapacity(changes.count)
        deltas.reserveCapacity(changes.count)
        for change in changes {
            if let latest, latest.kind.shape == change.shape, latest.kind.operation == change.operation,
                latest.kind.mask == change.mask, latest.kind.isKeyChange == change.isKeyChange,
                latest.kind.isMinted == change.isMinted, latest.kind.isCovering == change.isCovering,
                latest.kind.migration == change.migration?.name
            {
                positions.append(latest.position)
            } else {
                let kind = Kind(
                    shape: change.shape, operation: change.operation, mask: change.mask,
                    isKeyChange: change.isKeyChange, isMinted: change.isMinted, isCovering: change.isCovering,
                    migration: change.migration?.name)
                let position = kinds[kind] ?? UInt32(truncatingIfNeeded: kinds.count)
                if Int(position) == kinds.count {
                    kinds[kind] = position
                    let number = number(of: change.migration)
                    message.kinds.append(Tandem_V1_ChangeBatch.Kind(change, migration: number))
                }
                latest = (kind, position)
                positions.append(position)
            }
            deltas.append(change.stamp.rawValue &- stamp)
            stamp = change.stamp.rawValue
            if let migration = change.migration {
                message.migrationStamps.append(migration.stamp.rawValue)
                message.migrationLevels.append(migration.level)
            }
            if change.life == change.operation.usualLife {
                skipped += 1
            } else {
                message.lifeSkips.append(skipped)
                message.lives.append(change.life)
                skipped = 0
            }
            transaction += 1
            if change.endsTransaction {
                message.transactionLengths.append(transaction)
                transaction = 0
            }
        }
        message.changeKinds = positions
        message.stampDeltas = deltas
    }

    /// The number of a migration's name, from 1 on; 0 for none.
    private mutating func number(of migration: MigrationRank?) -> UInt32 {
        guard let migration else { return 0 }
        if let known = migrations[migration.name] { return known }
        message.migrations.append(wireData(migration.name.utf8))
        let position = UInt32(truncatingIfNeeded: message.migrations.count)
        migrations[migration.name] = position
        return position
    }

    private mutating func position(of origin: OriginID) -> Int {
        if let known = origins[origin] { return known }
        let position = origins.count
        origins[origin] = position
        message.origins.append(wireData(origin.bytes))
        return position
    }
}

extension Operation {
    /// The life of a key whose row was never deleted before. It is not sent.
    var usualLife: Int64 { self == .delete ? 2 : 1 }
}

extension Tandem_V1_ChangeBatch.Shape {
    init(_ shape: TableShape) {
        table = wireData(shape.table.utf8)
        columns = shape.columns.map { wireData($0.utf8) }
        keyCount = UInt32(truncatingIfNeeded: shape.keyCount)
    }
}

extension Tandem_V1_ChangeBatch.Kind {
    fileprivate init(_ change: Change, migration: UInt32) {
        self.migration = migration
        shape = UInt32(truncatingIfNeeded: change.shape)
        operation = UInt32(truncatingIfNeeded: change.operation.rawValue)
        mask = change.mask.isEmpty ? [] : change.mask.words
        keyChange = change.isKeyChange
        minted = change.isMinted
        covering = change.isCovering
    }
}

import Journal

/// The acknowledgements that a replica has of others. Pure.
struct Acknowledgements: Sendable, Hashable {
    /// What is known of one replica.
    struct Record: Sendable, Hashable {
        var newest: Acknowledgement
        /// The newest one of which everything that the replica had written before is here; nil when there is
        /// none yet. Only this one proves that nothing still to come is concurrent to what it contains.
        var usable: Acknowledgement?
    }

    private(set) var records: [OriginID: Record] = [:]

    init() {}

    init(_ records: [Record]) {
        for record in records { self.records[record.newest.origin] = record }
    }

    subscript(origin: OriginID) -> Record? { records[origin] }

    /// Takes an acknowledgement. One that is older than what is known changes nothing.
    ///
    /// Of two with the same head, each tells what its replica had seen at some time, so together they tell as much. Only
    /// of an archive neither covers the other: what was behind its heads, or in packs that a store lost, is held no more.
    ///
    /// - Parameter ours: What is applied here.
    /// - Returns: True when anything changed.
    @discardableResult
    mutating func take(_ new: Acknowledgement, ours: VersionVector) -> Bool {
        guard var record = records[new.origin] else {
            records[new.origin] = Record(newest: new, usable: isUsable(new, ours) ? new : nil)
            return true
        }
        let before = record
        let old = record.newest
        if new.head > old.head || new.head == old.head && !old.vector.covers(new.vector) {
            var newest = new
            if new.head == old.head { newest.vector.merge(old.vector) }
            if newest.milliseconds < old.milliseconds {
                newest.milliseconds = old.milliseconds
                newest.witness = old.witness
            }
            record.newest = newest
        } else if new.milliseconds > old.milliseconds {
            record.newest.milliseconds = new.milliseconds
            record.newest.witness = new.witness
        }
        if isUsable(record.newest, ours) { record.usable = record.newest }
        records[new.origin] = record
        return record != before
    }

    /// Finds the acknowledgements that became usable by what was applied since.
    mutating func refresh(ours: VersionVector) {
        for (origin, record) in records where record.usable != record.newest && isUsable(record.newest, ours) {
            records[origin]?.usable = record.newest
        }
    }

    private func isUsable(_ acknowledgement: Acknowledgement, _ ours: VersionVector) -> Bool {
        ours[acknowledgement.origin] >= acknowledgement.head
    }
}

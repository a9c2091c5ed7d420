import Journal

/// The acknowledgements that a replica has of others. Pure.
struct Acknowledgements: Sendable, Hashable {
    /// What is known of one replica.
    struct Record: Sendable, Hashable {
        var newest: Acknowledgement
        /// The newest one of which everything that the replica had written before is here; nil when there is
        /// none yet. Only this one proves that nothing still to come is concurrent to what it contains.
        var usable: Acknowledgement?
        /// When the time of ``newest`` was first found to be still to come, in milliseconds since 1970: the clock here was
        /// ahead when it was noted, and was set right since. nil for a time that has been.
        var doubted: Int64?

        /// When the replica was last met by anyone, as far as that is known, in milliseconds since 1970.
        var lastSeen: Int64 { doubted ?? newest.milliseconds }

        /// ``newest`` with that time.
        var told: Acknowledgement {
            var told = newest
            told.milliseconds = lastSeen
            return told
        }
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
        let isLater = new.milliseconds > record.lastSeen
        if new.head > old.head || new.head == old.head && !old.vector.covers(new.vector) {
            var newest = new
            if new.head == old.head { newest.vector.merge(old.vector) }
            (newest.milliseconds, newest.witness) = (old.milliseconds, old.witness)
            record.newest = newest
        }
        if isLater {
            (record.newest.milliseconds, record.newest.witness) = (new.milliseconds, new.witness)
            record.doubted = nil
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

    /// Finds times that are still to come, and takes back the doubt about those that have been meanwhile: then it was
    /// the present clock that was behind.
    ///
    /// - Parameter now: The time in milliseconds since 1970.
    /// - Returns: True when anything changed.
    mutating func judge(now: Int64) -> Bool {
        var isChanged = false
        for (origin, record) in records {
            let doubted = record.newest.milliseconds > now ? min(record.doubted ?? now, now) : nil
            guard doubted != record.doubted else { continue }
            records[origin]?.doubted = doubted
            isChanged = true
        }
        return isChanged
    }

    /// Takes what another process has noted.
    ///
    /// - Parameters:
    ///   - ours: What is applied here.
    ///   - now: The time in milliseconds since 1970.
    mutating func merge(_ other: Acknowledgements, ours: VersionVector, now: Int64) {
        for record in other.records.values {
            var seen = record.lastSeen
            // The other process has not doubted it yet.
            if seen > now { seen = records[record.newest.origin]?.lastSeen ?? now }
            for var acknowledgement in [record.usable, record.newest].compactMap(\.self) {
                acknowledgement.milliseconds = min(acknowledgement.milliseconds, seen)
                take(acknowledgement, ours: ours)
            }
        }
    }

    private func isUsable(_ acknowledgement: Acknowledgement, _ ours: VersionVector) -> Bool {
        ours[acknowledgement.origin] >= acknowledgement.head
    }
}

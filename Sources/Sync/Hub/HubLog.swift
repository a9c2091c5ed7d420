import Journal

/// The frames that a hub serves, in an order in which a replica can take them. Pure.
///
/// A record stays as long as the hub runs. Its payload stays as long as there is room, and is read from its pack again
/// when somebody asks for it later.
struct HubLog: Sendable {
    /// A pack.
    struct Place: Sendable, Hashable {
        var stream: StreamID
        var sequence: Int64
    }

    struct Record: Sendable {
        /// Without its payload once that was dropped.
        var frame: Frame
        var isLoaded = true
        /// The pack that holds it; nil as long as none does. Its payload stays until then.
        var place: Place?
        /// Bytes of the payload.
        let bytes: Int

        var covers: [Cover] {
            if case .batch(let covers, _, _) = frame.body { covers } else { [] }
        }

        /// True when it holds nothing but changes of `origin`.
        func isOwn(of origin: OriginID) -> Bool { covers.allSatisfy { $0.origin == origin } }
    }

    /// The records with changes of one origin, in their order: the last version of each, which rises.
    private struct Mark: Sendable {
        var last: Int64
        var position: Int
    }

    private(set) var records: [Record] = []
    /// What a replica has that took all of it.
    private(set) var have = VersionVector()
    /// Bytes of the payloads in memory.
    private(set) var loadedBytes = 0
    private let cacheBytes: Int
    private var nextToDrop = 0
    private var marks: [OriginID: [Mark]] = [:]

    init(cacheBytes: Int) { self.cacheBytes = cacheBytes }

    /// Adds a frame that follows ``have``, and brings something new.
    ///
    /// - Returns: Its position.
    @discardableResult
    mutating func append(_ frame: Frame, at place: Place?) -> Int {
        let position = records.count
        let covers = frame.coveredVersions
        for entry in covers.entries where entry.version > have[entry.origin] {
            marks[entry.origin, default: []].append(Mark(last: entry.version, position: position))
        }
        records.append(Record(frame: frame, place: place, bytes: frame.payload.count))
        loadedBytes += frame.payload.count
        have.merge(covers)
        dropPayloads()
        return position
    }

    /// Notes which pack holds a record.
    mutating func place(_ position: Int, at place: Place) {
        records[position].place = place
        // The others before the one that is dropped next are gone.
        if position < nextToDrop, records[position].isLoaded { drop(position) }
        dropPayloads()
    }

    /// Counts changes as had that no record brings.
    mutating func begin(at floor: VersionVector) { have.merge(floor) }

    /// The position of the first record with something that `have` lacks; the end when there is none.
    func position(after have: VersionVector) -> Int {
        var first = records.count
        for (origin, marks) in marks {
            let known = have[origin]
            guard let last = marks.last, last.last > known else { continue }
            first = min(first, HubLog.mark(marks, after: known).position)
        }
        return first
    }

    /// The position of the record with that version of an origin; nil when none has it.
    func position(of version: Int64, by origin: OriginID) -> Int? {
        guard let marks = marks[origin], let last = marks.last, last.last >= version else { return nil }
        return HubLog.mark(marks, after: version - 1).position
    }

    /// The first mark behind `version`; there is one.
    private static func mark(_ marks: [Mark], after version: Int64) -> Mark {
        var low = 0
        var high = marks.count - 1
        while low < high {
            let middle = (low + high) / 2
            if marks[middle].last <= version { low = middle + 1 } else { high = middle }
        }
        return marks[low]
    }

    private mutating func dropPayloads() {
        while loadedBytes > cacheBytes, nextToDrop < records.count {
            if records[nextToDrop].place != nil { drop(nextToDrop) }
            nextToDrop += 1
        }
    }

    private mutating func drop(_ position: Int) {
        loadedBytes -= records[position].bytes
        records[position].frame.payload = []
        records[position].isLoaded = false
    }
}

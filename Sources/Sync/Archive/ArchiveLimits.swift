import Journal

/// The times and sizes of replication through an archive.
public struct ArchiveLimits: Sendable, Hashable {
    /// How long changes gather before they are written as a pack, in milliseconds.
    public var flushMilliseconds: Int64 = 1_000

    /// The time between two looks at streams that were written to lately, in milliseconds.
    public var pollMilliseconds: Int64 = 1_000

    /// A stream counts as written to lately for this long after its last pack, in milliseconds.
    public var activeMilliseconds: Int64 = 60_000

    /// The most streams that are looked at one by one.
    public var activeStreams = 32

    /// The time between two listings of all heads, in milliseconds.
    public var listMilliseconds: Int64 = 10_000

    /// The time between two listings when nothing was new for ``activeMilliseconds`` times five, in milliseconds.
    public var idleListMilliseconds: Int64 = 60_000

    /// The shortest time between two heads of one stream, in milliseconds.
    public var headMilliseconds: Int64 = 10_000

    /// The time between two announcements of what this replica has merged, in milliseconds.
    public var acknowledgementMilliseconds: Int64 = 600_000

    /// How long another replica's changes may be missing from the archive before this one writes them, in
    /// milliseconds. Up to as much again is added, so that not all replicas do.
    public var bridgeMilliseconds: Int64 = 60_000

    /// The number of writing replicas from which on an archive counts as crowded. Each frame names what its writer had
    /// merged, so the bytes that all writers make grow with the square of their number.
    public var crowdedWriters = 500

    /// The number of writing replicas from which on an archive takes no changes of another one from that one.
    public var mostWriters = 1_000

    /// The most packs that are read at the same time.
    public var readsAtOnce = 4

    /// The size of a snapshot's parts, in bytes.
    public var snapshotPartBytes = 8 << 20

    /// What is removed from archives once a day; nil for nothing.
    public var collection: CollectionSettings?

    /// The time between two collections, in milliseconds.
    public var collectMilliseconds: Int64 = 86_400_000

    /// The age after which a new snapshot is made, in milliseconds.
    public var snapshotMilliseconds: Int64 = 86_400_000

    /// The time between two looks at whether a snapshot is due, in milliseconds.
    public var snapshotCheckMilliseconds: Int64 = 900_000

    /// What to do about a crowded archive.
    package static let crowdedAdvice =
        "each pack names what its writer had merged, so packs grow with their number. "
        + "Divide the replicas into several clusters, each with a prefix of its own; replicas that only read do not count"

    /// Refuses the changes of a replica that would be one too many to write to an archive. What others bring of it is
    /// taken: they may have built on it.
    ///
    /// - Parameters:
    ///   - pushed: What the replica pushes.
    ///   - held: What the archive holds.
    ///   - name: The archive, for the message.
    /// - Throws: ``SyncError/Code/tooLarge``.
    func checkRoom(
        for writer: OriginID, pushing pushed: VersionVector, in held: VersionVector, _ name: String
    ) throws(SyncError) {
        guard pushed[writer] > 0, held[writer] == 0, held.entries.count >= mostWriters else { return }
        throw SyncError(
            .tooLarge, "\(name) holds changes of \(held.entries.count) replicas, and takes no further one that writes",
            hint: "Because \(ArchiveLimits.crowdedAdvice).")
    }

    /// Creates the standard limits, whose values can then be changed.
    public init() {}

    /// Lets changes gather for so long. Streams are then looked at no more often than that: the changes of others
    /// gather, too, and each look in vain is a request.
    package mutating func gather(for milliseconds: Int64) {
        flushMilliseconds = milliseconds
        pollMilliseconds = max(pollMilliseconds, milliseconds)
    }

    /// The limits of a directory, where a listing costs nothing.
    package var ofDirectory: ArchiveLimits {
        var limits = self
        limits.listMilliseconds = min(limits.listMilliseconds, limits.pollMilliseconds)
        limits.idleListMilliseconds = limits.listMilliseconds
        return limits
    }

    /// The limits of a single exchange: everything is written at once.
    package var ofOneExchange: ArchiveLimits {
        var limits = self
        limits.flushMilliseconds = 0
        limits.headMilliseconds = 0
        limits.bridgeMilliseconds = 0
        return limits
    }
}

extension StoreAddress {
    /// The limits of an archive there.
    package func limits(_ limits: ArchiveLimits) -> ArchiveLimits {
        if case .directory = self { limits.ofDirectory } else { limits }
    }
}

import Journal

/// The result of one exchange with a peer.
public struct SyncReport: Sendable, Hashable {
    /// The peer's origin.
    public var peer: OriginID

    /// Changes of the peer that were new here.
    public var pulledChanges = 0
    /// Changes of the peer that were here already.
    public var duplicateChanges = 0

    /// Frames of changes that were received.
    public var pulledFrames = 0
    /// How many of them were skipped unread, because everything in them was here already.
    public var skippedFrames = 0
    /// Bytes of the payloads of the received frames, as they travelled.
    public var pulledBytes = 0

    /// New entries of the conflict ledger here: changes that lost values to concurrent ones.
    public var conflicts = 0

    /// Entries that the conflict ledger dropped, because they were too old or too many for one row.
    public var droppedConflicts = 0

    /// Changes that were sent to the peer.
    public var pushedChanges = 0
    /// Bytes of their payloads, as they travelled.
    public var pushedBytes = 0

    /// What this replica knew at the end.
    public var ours = VersionVector()
    /// What the peer knew at the end, as far as it said.
    public var theirs = VersionVector()

    /// What this replica has seen of the peer's changes and deferred.
    public var heldBackHere = VersionVector()
    /// What the peer has seen of this replica's changes and deferred.
    public var heldBackThere = VersionVector()

    /// Tables that differ although both know the same changes: damage, or a fault. Empty when no table
    /// differs, or when nothing was compared.
    public var mismatches: [ContentMismatch] = []

    /// True when both know the same changes.
    public var isLevel: Bool { ours.covers(theirs) && theirs.covers(ours) }

    init(peer: OriginID) { self.peer = peer }

    /// Adds an exchange that followed this one.
    mutating func add(_ next: SyncReport) {
        var sum = next
        sum.pulledChanges += pulledChanges
        sum.duplicateChanges += duplicateChanges
        sum.pulledFrames += pulledFrames
        sum.skippedFrames += skippedFrames
        sum.pulledBytes += pulledBytes
        sum.conflicts += conflicts
        sum.droppedConflicts += droppedConflicts
        sum.pushedChanges += pushedChanges
        sum.pushedBytes += pushedBytes
        self = sum
    }

    mutating func add(_ tally: FrameIntake.Tally) {
        pulledChanges += tally.applied
        duplicateChanges += tally.duplicates
        pulledFrames += tally.frames
        skippedFrames += tally.skippedFrames
        pulledBytes += tally.bytes
        conflicts += tally.conflicts
        droppedConflicts += tally.droppedConflicts
    }
}

import Journal

/// What one exchange with a peer did.
public struct SyncReport: Sendable, Hashable {
    /// Who the peer is.
    public var peer: OriginID

    /// Changes of the peer that were new here.
    public var pulledChanges = 0
    /// Changes of the peer that were here already.
    public var duplicateChanges = 0

    /// Frames of changes that came.
    public var pulledFrames = 0
    /// How many of them were skipped unread: all that they hold was here.
    public var skippedFrames = 0
    /// Bytes of their payloads, as they travelled.
    public var pulledBytes = 0

    /// Values that lost, or won against others, without having seen each other.
    public var conflicts = 0

    /// Entries that the ledger dropped, because they were too old or too many for one row.
    public var droppedConflicts = 0

    /// Changes that the peer lacked.
    public var pushedChanges = 0
    /// Bytes of the payloads in which those were sent, as they travelled.
    public var pushedBytes = 0

    /// What this replica knew at the end.
    public var ours = VersionVector()
    /// What the peer knew at the end, as far as it said.
    public var theirs = VersionVector()

    /// What this replica has seen of the peer's changes and not taken, for stamps that lie too far ahead.
    public var heldBackHere = VersionVector()
    /// What the peer has seen of this replica's changes and not taken, for the same reason.
    public var heldBackThere = VersionVector()

    /// Tables that differ although both know the same: damage, or a fault. Empty when none was found, or nothing was compared.
    public var mismatches: [ContentMismatch] = []

    /// True when each knows what the other knows.
    public var isLevel: Bool { ours.covers(theirs) && theirs.covers(ours) }

    init(peer: OriginID) { self.peer = peer }

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

import Journal

/// What one exchange with a peer did.
public struct SyncReport: Sendable, Hashable {
    public var peer: OriginID

    /// Changes of the peer that were new here, and those that were not.
    public var pulledChanges = 0
    public var duplicateChanges = 0

    /// Frames that came, and how many of them were skipped unread.
    public var pulledFrames = 0
    public var skippedFrames = 0
    public var pulledBytes = 0

    /// Values that lost, or won against others, without having seen each other.
    public var conflicts = 0

    /// Entries that the ledger dropped, because they were too old or too many for one row.
    public var droppedConflicts = 0

    /// Changes that the peer lacked.
    public var pushedChanges = 0
    public var pushedBytes = 0

    /// What both knew at the end, as far as they said.
    public var ours = VersionVector()
    public var theirs = VersionVector()

    /// What was seen and not taken, for stamps that lie too far ahead: here of the peer's changes, there of this replica's.
    public var heldBackHere = VersionVector()
    public var heldBackThere = VersionVector()

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

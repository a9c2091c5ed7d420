/// What a compaction did, or would do.
package struct CompactionReport: Sendable, Hashable {
    /// What is stable, and who holds it back.
    package var horizon: StableHorizon
    /// Entries of the journal before.
    package var entries: Int64
    /// How many of them are stable and old enough.
    package var stable = 0
    /// How many of these are superseded and were, or would be, removed.
    package var removable = 0
    /// How many were removed.
    package var removed = 0
    /// True when the file changed so that the rest of the work was dropped; the next compaction does it.
    package var isCutShort = false
    /// Free pages of the file afterwards, in bytes.
    package var freeBytes: Int64 = 0
    /// Bytes that were given back to the disk.
    package var returnedBytes: Int64 = 0
    /// True when the file can give free pages back by itself: `PRAGMA auto_vacuum = INCREMENTAL`.
    package var givesBack = false
}

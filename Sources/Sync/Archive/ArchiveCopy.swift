import Foundation
import Journal

/// Makes a file with all changes that an archive holds, or held at a time, for reading. Nothing is written to the
/// archive.
package struct ArchiveCopy: Sendable {
    /// From which snapshot to begin.
    package enum Beginning: Sendable {
        /// From the newest one that is old enough: the least to read.
        case newest
        /// From the oldest one: the longest history, because each snapshot was compacted when it was made.
        case oldest
    }

    package let store: any ObjectStore
    /// The new file, which must not exist. Files with this name and an ending are made beside it.
    package let path: String
    /// The time up to which packs are read; nil for all.
    package let at: Stamp?
    package var beginning = Beginning.newest
    package var limits = Limits.standard
    package var clock: any SyncClock = SystemClock()

    package init(_ store: any ObjectStore, path: String, at: Stamp?, beginning: Beginning = .newest) {
        self.store = store
        self.path = path
        self.at = at
        self.beginning = beginning
    }

    /// Clocks differ, and packs are written after the changes in them: packs of this much later are read, too.
    private static let slackMilliseconds: Int64 = 300_000

    /// Makes the file.
    ///
    /// - Parameter onProgress: Called as the snapshot arrives.
    /// - Throws: ``SyncError``: `notFound` without an archive or a snapshot; those of the store and of the disk. What
    ///   was made so far is there; see ``remove()``.
    package func make(onProgress: @escaping @Sendable (Clone.Progress) -> Void = { _ in }) async throws {
        let snapshots = try await snapshots()
        var clone = Clone(from: snapshots, to: path)
        clone.limits = limits
        clone.clock = clock
        let report = try await clone.run(progress: onProgress)
        try await snapshots.noteCursors(of: path, snapshot: report.snapshot)
        try await takePacks()
    }

    /// Removes the file, and all that was made beside it.
    package func remove() {
        DatabaseCopy.remove(path)
        for suffix in ["-identity", "-checkpoint", "-peers", "-acks", "-archives", "-ends", "-partial"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
    }

    private func snapshots() async throws -> ArchiveSnapshots {
        if case .oldest = beginning { return ArchiveSnapshots(store, limits: limits, takesOldest: true) }
        guard let at else { return ArchiveSnapshots(store, limits: limits) }
        // A snapshot made later serves as well, as far as its journal reaches back.
        let isReached = try await SnapshotStore(store: store, limits: limits).whole()
            .contains { $0.milliseconds <= at.milliseconds }
        return isReached
            ? ArchiveSnapshots(store, until: at.milliseconds, limits: limits)
            : ArchiveSnapshots(store, limits: limits, takesOldest: true)
    }

    private func takePacks() async throws {
        var options = Replica.Options()
        options.hasOneConnection = true
        let replica = try Replica.open(at: path, options: options)
        defer { try? replica.close() }
        let inbox = try Inbox(replica: replica, limits: limits) { [clock] in
            Stamp(milliseconds: clock.wallMilliseconds())
        }
        defer { try? inbox.close() }
        var until = Int64.max
        if let at {
            let (sum, overflow) = at.milliseconds.addingReportingOverflow(ArchiveCopy.slackMilliseconds)
            until = overflow ? .max : sum
        }
        let transport = ArchiveTransport(
            store, replica: replica, limits: limits, clock: clock, until: until,
            entropy: { UInt64.random(in: .min ... .max) })
        let session = SyncSession(
            replica: replica, inbox: inbox, transport: transport, limits: limits, clock: clock)
        var theirs = try await session.greet().vector
        while true {
            let (end, _) = try await session.pull(waitSeconds: 0, from: theirs)
            theirs = end.vector
            guard end.more else { return }
        }
    }
}

import Foundation
import Journal

/// Makes a file with the tables as they were at a time, from an archive alone.
///
/// It clones the newest snapshot that is older into a file beside the new one, takes the packs that were written up to
/// then, and goes back to the exact time by the journal.
package struct ArchiveRestore: Sendable {
    package let store: any ObjectStore
    /// The new file, which must not exist.
    package let path: String
    package let at: Stamp
    package var limits = Limits.standard
    package var clock: any SyncClock = SystemClock()

    package init(_ store: any ObjectStore, path: String, at: Stamp) {
        self.store = store
        self.path = path
        self.at = at
    }

    /// Clocks differ, and packs are written after the changes in them: packs of this much later are read, too.
    private static let slackMilliseconds: Int64 = 300_000

    /// Makes the file.
    ///
    /// - Parameter onProgress: Called as the snapshot arrives.
    /// - Throws: ``SyncError``: `notFound` without an archive or a snapshot; those of the store and of the disk.
    ///   ``JournalError``: as ``Restoring/run(time:progress:)``. Nothing has the name `path` then.
    package func run(onProgress: @escaping @Sendable (Clone.Progress) -> Void = { _ in }) async throws
        -> Restoring.Outcome
    {
        try DatabaseCopy.checkFree(path)
        let work = path + "-archive"
        remove(work)
        defer { remove(work) }
        // A snapshot made later serves as well, as far as its journal reaches back.
        let isReached = try await SnapshotStore(store: store, limits: limits).all()
            .contains { $0.milliseconds <= at.milliseconds }
        let snapshots =
            isReached
            ? ArchiveSnapshots(store, until: at.milliseconds, limits: limits)
            : ArchiveSnapshots(store, limits: limits, takesOldest: true)
        var clone = Clone(from: snapshots, to: work)
        clone.limits = limits
        clone.clock = clock
        let report = try await clone.run(progress: onProgress)
        try await snapshots.noteCursors(of: work, snapshot: report.snapshot)
        try await takePacks(work)
        return try await blocking { [clock, path, at] in
            try Restoring(source: work, path: path, at: at).run(time: Double(clock.wallMilliseconds()) / 1_000)
        }
    }

    private func takePacks(_ file: String) async throws {
        var options = Replica.Options()
        options.hasOneConnection = true
        let replica = try Replica.open(at: file, options: options)
        defer { try? replica.close() }
        let inbox = try Inbox(replica: replica, limits: limits) { [clock] in
            Stamp(milliseconds: clock.wallMilliseconds())
        }
        defer { try? inbox.close() }
        let (until, overflow) = at.milliseconds.addingReportingOverflow(ArchiveRestore.slackMilliseconds)
        let transport = ArchiveTransport(
            store, replica: replica, limits: limits, clock: clock, until: overflow ? .max : until,
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

    private func remove(_ file: String) {
        DatabaseCopy.remove(file)
        for suffix in ["-identity", "-checkpoint", "-peers", "-acks", "-archives", "-partial"] {
            try? FileManager.default.removeItem(atPath: file + suffix)
        }
    }
}

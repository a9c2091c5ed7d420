import Foundation
import Journal

/// Brings a replica back that was away for longer than its lease: the others have compacted what it lacks, and
/// hold back what it wrote.
///
/// The file gets the content of a peer's snapshot under the programs that have it open. What this replica wrote
/// and the peer had not seen is written again on top of it (``Rebase``). The file keeps the rows of tables that
/// do not replicate. A copy of the file as it was stays beside it. See docs/decisions/0042-return.md.
package struct Return: Sendable {
    /// How far it has come.
    package enum Progress: Sendable, Hashable {
        /// The peer's snapshot arrives.
        case cloning(Clone.Progress)
        /// The file as it was is copied.
        case keeping
        /// The content takes its place; writers wait.
        case replacing
    }

    /// What was done.
    package struct Report: Sendable, Hashable {
        /// The identity before and after.
        package let identity: NewIdentity.Outcome
        /// How many changes of the file the peer had not seen.
        package let unseen: Int
        /// How many changes were written for them.
        package let written: Int
        /// Of the rows they concern, how many others had changed as well. The ledger has both versions.
        package let contested: Int
        /// How many rows got another key, because others have given theirs to another row.
        package let rekeyed: Int
        /// The copy of the file as it was.
        package let kept: String
        /// The size of the file in bytes.
        package let bytes: Int64
        /// How long writers waited, in milliseconds.
        package let waitedMilliseconds: Int64
    }

    let inbox: Inbox
    let source: any SnapshotSource
    package var limits = Limits.standard
    package var clock: any SyncClock = SystemClock()
    /// 64 random bits at each call, for the jitter of retries.
    package var entropy: @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }

    /// True to refuse content that has nothing which the file lacks: a return by it would only give another name.
    package var wantsNews = false

    package init(_ inbox: Inbox, from source: any SnapshotSource) {
        self.inbox = inbox
        self.source = source
    }

    /// Brings the replica back.
    ///
    /// - Parameter progress: Called as it goes on, from any thread.
    /// - Throws: ``SyncError``: `configuration` when the peer's schema or settings are others than here, so that
    ///   programs here could not use its content; `otherCluster`; `storage` without room for the snapshot and the
    ///   copy; `busy`; failures of the connection. The file is unchanged then. Parts of the snapshot that have
    ///   arrived stay beside it, and the next attempt goes on from there.
    package func run(progress: @escaping @Sendable (Progress) -> Void = { _ in }) async throws -> Report {
        let files = inbox.replica.options.files
        let path = files.resolved(inbox.replica.path)
        let fresh = path + "-return"
        try await blocking { Return.removeLeftovers(fresh, files) }
        var clone = Clone(from: source, to: fresh)
        clone.cluster = try await blocking { [inbox] in try inbox.replica.identity().cluster }
        clone.limits = limits
        clone.clock = clock
        clone.files = files
        clone.entropy = entropy
        let here = try await blocking { [inbox] in try inbox.replica.read { try ContentProfile($0) } }
        let have = try await blocking { [inbox] in try inbox.vector() }
        clone.accept = { [wantsNews] manifest in
            try Return.checkFits(manifest, here)
            guard !wantsNews || !have.covers(manifest.vector) else { throw Return.nothingNew(source.name) }
        }
        let snapshot = try await clone.run { progress(.cloning($0)) }
        return try await SyncError.wrapping {
            try await blocking { [inbox, clock] in
                defer { Return.removeLeftovers(fresh, files) }
                try inbox.prepare(fresh)
                progress(.keeping)
                let kept = Return.free(path + "-before-return-" + Return.name(of: clock.wallMilliseconds()), files)
                do {
                    _ = try DatabaseCopy(to: kept).run(of: inbox.replica)
                } catch {
                    DatabaseCopy.remove(kept, files)
                    throw error
                }
                progress(.replacing)
                let began = clock.steadyMilliseconds()
                let done: Inbox.TakenOver
                do {
                    done = try inbox.takeOver(fresh)
                } catch {
                    // The file is what it was, so the copy is no use.
                    DatabaseCopy.remove(kept, files)
                    throw error
                }
                return Report(
                    identity: done.identity, unseen: done.unseen, written: done.written, contested: done.contested,
                    rekeyed: done.rekeyed, kept: kept, bytes: snapshot.bytes,
                    waitedMilliseconds: clock.steadyMilliseconds() - began)
            }
        }
    }

    /// Checks that the programs of this file can go on with the content of a snapshot.
    ///
    /// - Throws: ``SyncError/Code/configuration`` when they cannot.
    private static func checkFits(_ manifest: SnapshotManifest, _ here: ContentProfile) throws(SyncError) {
        guard !manifest.vector.isEmpty else {
            throw SyncError(
                .configuration, "The peer has no changes, so its content cannot take the place of this file's",
                hint: "Name a peer that has what this replica lacks; `syncd status` shows what each of them knows.")
        }
        if let there = manifest.profile { try checkFits(there, here) }
    }

    private static func nothingNew(_ source: String) -> SyncError {
        SyncError(
            .configuration, "The snapshot of \(source) has nothing that this replica lacks",
            hint: "It may be this replica's own; then it is others that come back by it.")
    }

    /// As ``checkFits(_:_:)-(SnapshotManifest,_)``.
    static func checkFits(_ there: ContentProfile, _ here: ContentProfile) throws(SyncError) {
        guard let difference = here.difference(from: there) else { return }
        throw SyncError(
            .configuration, "The content of the peer cannot take the place of this file's: it has \(difference)",
            hint: "Bring both to the same release of the program and the same settings; then it is tried again.")
    }

    /// A replica that an attempt made which was killed later.
    private static func removeLeftovers(_ fresh: String, _ files: any FileSystem) {
        DatabaseCopy.remove(fresh, files)
        for suffix in ["-identity", "-acks", "-peers", "-checkpoint"] { files.remove(fresh + suffix) }
    }

    private static func free(_ name: String, _ files: any FileSystem) -> String {
        var (candidate, number) = (name, 1)
        while files.exists(candidate) {
            number += 1
            candidate = "\(name)-\(number)"
        }
        return candidate
    }

    /// A time in UTC, as a part of a file's name.
    private static func name(of milliseconds: Int64) -> String {
        var text = Date(timeIntervalSince1970: Double(milliseconds) / 1_000).formatted(.iso8601)
        text.removeAll { $0 == "-" || $0 == ":" }
        return text
    }
}

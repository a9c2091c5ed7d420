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

    /// Makes the file.
    ///
    /// - Parameter onProgress: Called as the snapshot arrives.
    /// - Throws: ``SyncError``: `notFound` without an archive or a snapshot; those of the store and of the disk.
    ///   ``JournalError``: as ``Restoring/run(time:progress:)``. Nothing has the name `path` then.
    package func run(onProgress: @escaping @Sendable (Clone.Progress) -> Void = { _ in }) async throws
        -> Restoring.Outcome
    {
        try DatabaseCopy.checkFree(path)
        var copy = ArchiveCopy(store, path: path + "-archive", at: at)
        copy.limits = limits
        copy.clock = clock
        copy.remove()
        defer { copy.remove() }
        try await copy.make(onProgress: onProgress)
        return try await blocking { [clock, copy, path, at] in
            try Restoring(source: copy.path, path: path, at: at).run(time: Double(clock.wallMilliseconds()) / 1_000)
        }
    }
}

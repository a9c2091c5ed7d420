import Logging

// Snapshots of the replica in archives.

extension Replicator {
    /// Exchanges with an archive, and puts a snapshot of this replica into it.
    ///
    /// - Parameter onProgress: Called with the bytes of the file that are written, and all of them.
    /// - Throws: ``SyncError``: `configuration` for a peer that is no archive; what was exchanged before a failure
    ///   stays.
    package func archive(
        in peer: PeerConfiguration, onProgress: @escaping @Sendable (Int64, Int64) -> Void = { _, _ in }
    ) async throws -> SnapshotManifest {
        try await SyncError.wrapping {
            let session = try await self.session(with: peer)
            guard let archive = (session.transport as? PatientTransport)?.base as? ArchiveTransport else {
                throw SyncError(
                    .configuration, "\(peer.name) is not an archive", hint: "It looks like file:///mnt/shop.")
            }
            _ = try await session.exchange()
            return try await archive.writeSnapshot(onProgress: onProgress)
        }
    }

    /// Puts a snapshot into each archive that is followed and has none of the last day.
    func archiveRegularly() async {
        while !Task.isCancelled {
            do {
                try await clock.sleep(milliseconds: limits.archive.snapshotCheckMilliseconds)
            } catch {
                // Cancelled.
                return
            }
            for archive in followed.all.compactMap({ $0.transport as? ArchiveTransport }) {
                do {
                    guard try await archive.makeSnapshotIfDue() else { continue }
                    logger.log(.archived, "\(archive.name) has a new snapshot", peer: archive.name)
                } catch {
                    guard !Task.isCancelled else { return }
                    logger.log(
                        .archiveFailed, "No snapshot can be put into \(archive.name): \(SyncError(wrapping: error))",
                        peer: archive.name)
                }
            }
        }
    }
}

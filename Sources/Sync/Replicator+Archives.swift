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

    /// Puts a snapshot into each archive that is followed and has none of the last day, and removes what is old once a
    /// day where that is configured.
    func archiveRegularly() async {
        var collected: [String: Int64] = [:]
        while !Task.isCancelled {
            do {
                try await clock.sleep(milliseconds: limits.archive.snapshotCheckMilliseconds)
            } catch {
                // Cancelled.
                return
            }
            for archive in followed.all.compactMap({ $0.transport as? ArchiveTransport }) {
                await tend(archive, collected: &collected[archive.name])
            }
        }
    }

    /// Makes a snapshot if one is due, and collects if that is configured and due.
    ///
    /// - Parameter collected: When this process last collected the archive, in steady milliseconds.
    func tend(_ archive: ArchiveTransport, collected: inout Int64?) async {
        let unwritten = await failure {
            guard try await archive.makeSnapshotIfDue() else { return }
            logger.log(.archived, "\(archive.name) has a new snapshot", peer: archive.name)
        }
        if let unwritten {
            logger.log(.archiveFailed, "No snapshot can be put into \(archive.name): \(unwritten)", peer: archive.name)
        }
        let now = clock.steadyMilliseconds()
        guard let settings = limits.archive.collection,
            collected.map({ now - $0 >= limits.archive.collectMilliseconds }) ?? true
        else { return }
        collected = now
        let uncollected = await failure {
            let collector = ArchiveCollector(archive.store, settings: settings, limits: limits, entropy: entropy)
            let report = try await collector.run(isDryRun: false)
            logger.log(.archiveCollected, "\(archive.name): \(report.sentence)", peer: archive.name)
        }
        if let uncollected {
            logger.log(
                .archiveCollectionFailed, "\(archive.name) cannot be collected: \(uncollected)", peer: archive.name)
        }
    }

    /// Runs `body`, and returns its failure, unless the work is being stopped.
    private func failure(_ body: () async throws -> Void) async -> SyncError? {
        do {
            try await body()
            return nil
        } catch {
            return Task.isCancelled ? nil : SyncError(wrapping: error)
        }
    }
}

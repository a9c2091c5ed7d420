import Journal

/// What a hub is doing.
package struct HubStatus: Sendable, Hashable {
    /// The address of the store, without secrets.
    package var store: String
    /// nil before there is an archive.
    package var cluster: String?
    /// The name of the archive among replicas; nil before there is one.
    package var origin: OriginID?
    /// True once everything in the archive is read, and for a store that has none yet.
    package var isReady: Bool
    /// The whole transactions that the archive holds.
    package var vector: VersionVector
    /// The frames that are served, and the bytes of those in memory.
    package var frames: Int
    package var cachedBytes: Int
    /// The frames that no pack holds yet, and their bytes.
    package var waitingFrames: Int
    package var waitingBytes: Int
    /// Changes that were pushed and were new here, and frames that were sent, since the start.
    package var receivedChanges: Int
    package var sentFrames: Int
    package var requests: StoreRequests
    /// What fails in the work with the store.
    package var failure: SyncError?
    /// What is damaged or missing in the archive.
    package var problem: SyncError?
}

extension Hub {
    package var status: HubStatus {
        HubStatus(
            store: store.name, cluster: archive?.meta.cluster, origin: archive?.meta.archive.origin,
            isReady: isRead || archive == nil && hasLooked, vector: whole, frames: log.records.count,
            cachedBytes: log.loadedBytes, waitingFrames: waiting.count + relayed.count, waitingBytes: waitingBytes,
            receivedChanges: receivedChanges, sentFrames: sentFrames, requests: store.requests, failure: failure,
            problem: problem)
    }
}

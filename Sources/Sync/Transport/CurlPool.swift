import Synchronization

/// The idle handles of one peer. Each keeps its connection open, so that the next request needs no new one.
final class CurlPool: Sendable {
    /// A peer is asked and told at the same time, and rarely verified besides.
    private static let idleHandles = 3

    private let idle = Mutex<[CurlHandle]>([])

    func take() throws(SyncError) -> CurlHandle {
        if let handle = idle.withLock({ $0.popLast() }) { return handle }
        return try CurlHandle()
    }

    func giveBack(_ handle: CurlHandle) {
        handle.reset()
        idle.withLock { if $0.count < CurlPool.idleHandles { $0.append(handle) } }
    }
}

import Synchronization

/// The idle handles of one peer. Each keeps its connection open, so that the next request needs no new one.
final class CurlPool: Sendable {
    /// A pull and a push run at the same time, and sometimes a comparison besides.
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

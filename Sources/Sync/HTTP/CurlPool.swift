import Synchronization

/// The idle handles of one server. Each keeps its connection open, so that the next request needs no new one.
final class CurlPool: Sendable {
    private let idleHandles: Int
    private let idle = Mutex<[CurlHandle]>([])

    /// - Parameter idleHandles: The most handles to keep. A pull and a push to a peer run at the same time, and
    ///   sometimes a comparison besides.
    init(idleHandles: Int = 3) { self.idleHandles = idleHandles }

    func take() throws(SyncError) -> CurlHandle {
        if let handle = idle.withLock({ $0.popLast() }) { return handle }
        return try CurlHandle()
    }

    func giveBack(_ handle: CurlHandle) {
        handle.reset()
        idle.withLock { if $0.count < idleHandles { $0.append(handle) } }
    }
}

import Journal
import Sync
import Synchronization

/// The snapshots of one replica. Unlike the production keeper it makes one for each request, so that a receiver may
/// find that its parts are gone, and it waits for no time.
package final class SnapshotShelf: SnapshotSource {
    package let name: String
    private let replica: Replica
    private let limits: Limits
    private let whileCopying: @Sendable () -> Void
    private let latest = Mutex<SnapshotCopy?>(nil)

    /// - Parameter whileCopying: Called after each step of a copy. It may write to the file.
    package init(_ replica: Replica, limits: Limits, whileCopying: @escaping @Sendable () -> Void = {}) {
        name = replica.path
        self.replica = replica
        self.limits = limits
        self.whileCopying = whileCopying
    }

    package func snapshot() async throws -> SnapshotAnswer {
        do {
            let copy = try SnapshotCopy.make(of: replica, limits: limits) { [whileCopying] _, _ in whileCopying() }
            latest.withLock { $0 = copy }
            return .ready(copy.manifest)
        } catch {
            throw SyncError(wrapping: error)
        }
    }

    package func part(_ index: Int, of id: String, size: Int) async throws -> [UInt8] {
        guard let copy = latest.withLock({ $0 }), copy.manifest.id == id, copy.manifest.parts.indices.contains(index)
        else { throw SyncError(.notFound, "The snapshot is no longer here") }
        return try copy.part(index)
    }
}

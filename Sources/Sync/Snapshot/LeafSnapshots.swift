import Journal
import Synchronization

/// The snapshots that leaves are made from: one for each set of tables that was asked for.
final class LeafSnapshots: Sendable {
    private let replica: Replica
    private let limits: Limits
    private let clock: any SyncClock
    private let keepers = Mutex<[TableScope: SnapshotKeeper]>([:])

    init(replica: Replica, limits: Limits, clock: any SyncClock) {
        self.replica = replica
        self.limits = limits
        self.clock = clock
    }

    /// The keeper of the snapshots with these tables. A caller can have no others: the tables are those of its token.
    func keeper(of scope: TableScope) -> SnapshotKeeper {
        keepers.withLock { keepers in
            if let keeper = keepers[scope] { return keeper }
            let keeper = SnapshotKeeper(replica: replica, limits: limits, clock: clock, only: scope)
            keepers[scope] = keeper
            return keeper
        }
    }
}

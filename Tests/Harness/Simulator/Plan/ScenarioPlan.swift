import Journal
import MergeModel
import Sync
import TestSupport

/// A scenario before it runs. The seed makes all choices and events make none, so leaving out a step does not
/// change the others.
struct ScenarioPlan: Sendable {
    struct Step: Sendable {
        /// Milliseconds since the start.
        let time: Int64
        let action: Action
    }

    enum Action: Sendable {
        /// One transaction: random statements, and `tokens` rows that only this transaction writes.
        case write(machine: Int, [String], tokens: Int, isMarked: Bool, crashes: Bool)
        case crash(machine: Int, CrashPoint, downFor: Int64, recoversBadly: Bool)
        case stop(machine: Int, downFor: Int64)
        case lock(machine: Int, for: Int64)
        /// Nothing from a machine in one of the sets reaches a machine outside of it.
        case partition([Int], isOneWay: Bool, for: Int64)
        case jump(machine: Int, milliseconds: Int64)
        case freeze(machine: Int, for: Int64)
        case backUp(machine: Int)
        /// - keepsRecord: True to keep the record beside the file, false to restore it with the file.
        case restore(machine: Int, isInPlace: Bool, keepsRecord: Bool)
        case clone(machine: Int, keepsRecord: Bool)
        case rekey(machine: Int)
        case migrate(machine: Int, addition: Int)
        case check
        case disk(machine: Int, DiskFault)
        case point(machine: Int, BuggifyPoint)
        /// An operator of one machine forgets another one.
        case forget(machine: Int, other: Int)
        case store(Int, StoreFault)
        case crashHub(Int, downFor: Int64)
    }

    /// What happens to the object store of an archive.
    enum StoreFault: Sendable {
        case down(for: Int64)
        case backUp
        case restore
        case damage(seed: UInt64)
    }

    /// One machine that follows another one.
    struct Link: Sendable, Hashable {
        let from: Int
        let to: Int
    }

    enum CrashPoint: Sendable, Hashable {
        case now
        /// Before the n-th commit, 1 for the next one: its writes are lost.
        case beforeCommit(Int)
        /// Right after that commit: its writes are in the file, and nobody was told.
        case afterCommit(Int)
    }

    struct ClockPlan: Sendable {
        var offset: Int64
        var drift: Int64
    }

    /// The durability of commits on one machine.
    struct DurabilityPlan: Sendable {
        var program = Replica.Durability.full
        var daemon = Replica.Durability.full

        /// True when a loss of power may take commits.
        var isWeak: Bool { program == .normal || daemon == .normal }
    }

    let seed: UInt64
    let profile: Profile
    let kinds: Set<FaultKind>
    let machines: Int
    /// The rank of each machine in the order of origins.
    let ranks: [Int]
    /// The machines that each machine follows.
    let follows: [[Int]]
    /// The directions that are not both.
    let directions: [Link: SyncDirection]
    /// One or two, or none.
    let archives: [ArchivePlan]
    /// nil when nobody reaches the first archive by a hub.
    let hubs: HubPlan?
    /// The address that never becomes a peer and that each machine follows too; empty for none.
    let byzantinePeer: [ByzantinePeer.Manner]
    let clocks: [ClockPlan]
    let durabilities: [DurabilityPlan]
    let pageBytes: [Int]
    let limits: Limits
    let network: NetworkPlan
    let shufflesTasks: Bool
    let schema: HistorySchema
    let hasConstraints: Bool
    let steps: [Step]
    /// When the faults end.
    let duration: Int64

    /// True when all programs overwrite the same few rows.
    var hasRegisters: Bool { kinds.contains(.contention) }
}

/// The rates of faults of single requests, and delays.
struct NetworkPlan: Sendable {
    var rates: [FaultKind: Double] = [:]
    /// Milliseconds in one direction.
    var delay: ClosedRange<Int> = 1...20

    func rate(_ kind: FaultKind) -> Double { rates[kind] ?? 0 }
}

/// The families of faults of a scenario.
package enum Profile: String, CaseIterable, Sendable {
    case none, network, processes, clocks, identity, all, disks
}

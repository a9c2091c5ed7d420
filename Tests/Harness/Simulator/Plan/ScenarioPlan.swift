import Journal
import MergeModel
import Sync
import TestSupport

/// A life before it is lived: all choices come from the seed, none from what happens, so that leaving out a step leaves the others as
/// they are.
struct ScenarioPlan: Sendable {
    struct Step: Sendable {
        /// Milliseconds since the beginning.
        let time: Int64
        let action: Action
    }

    enum Action: Sendable {
        /// One transaction: random statements, and `tokens` rows that only this transaction writes.
        case write(machine: Int, [String], tokens: Int, isMarked: Bool, crashes: Bool)
        case crash(machine: Int, CrashPoint, downFor: Int64, recoversBadly: Bool)
        case stop(machine: Int, downFor: Int64)
        case lock(machine: Int, for: Int64)
        /// What stands in one of the sets reaches nobody in the other ones.
        case partition([Int], isOneWay: Bool, for: Int64)
        case jump(machine: Int, milliseconds: Int64)
        case freeze(machine: Int, for: Int64)
        case backUp(machine: Int)
        /// - keepsRecord: Whether the record beside the file stays, or goes back with it.
        case restore(machine: Int, isInPlace: Bool, keepsRecord: Bool)
        case clone(machine: Int, keepsRecord: Bool)
        case rekey(machine: Int)
        case migrate(machine: Int, addition: Int)
        case check
        case disk(machine: Int, DiskFault)
        case point(machine: Int, BuggifyPoint)
    }

    enum CrashPoint: Sendable, Hashable {
        case now
        /// The n-th commit from now on, 1 or more: what it would have written is lost.
        case beforeCommit(Int)
        /// Right after it: what it wrote is there, and nobody heard of it.
        case afterCommit(Int)
    }

    struct ClockPlan: Sendable {
        var offset: Int64
        var drift: Int64
    }

    /// How the processes of one machine commit.
    struct DurabilityPlan: Sendable {
        var program = Replica.Durability.full
        var daemon = Replica.Durability.full

        /// Whether a loss of power may take commits.
        var isWeak: Bool { program == .normal || daemon == .normal }
    }

    let seed: UInt64
    let profile: Profile
    let kinds: Set<FaultKind>
    let machines: Int
    /// For each machine, its place in the order of origins.
    let ranks: [Int]
    /// Who follows whom.
    let follows: [[Int]]
    /// For each machine the address that never becomes a peer, which it follows too; none when empty.
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

    /// Whether all programs overwrite the same few rows.
    var hasRegisters: Bool { kinds.contains(.contention) }
}

/// Rates of what befalls single requests, and how long they take.
struct NetworkPlan: Sendable {
    var rates: [FaultKind: Double] = [:]
    /// Milliseconds one way.
    var delay: ClosedRange<Int> = 1...20

    func rate(_ kind: FaultKind) -> Double { rates[kind] ?? 0 }
}

/// Which families of faults a life has.
public enum Profile: String, CaseIterable, Sendable {
    case none, network, processes, clocks, identity, all, disks
}

import Journal
import Sync

extension Scenario {
    func perform(_ point: BuggifyPoint, on machine: SimulatedMachine) throws {
        guard machine.isUp else { return }
        switch point {
        case .checkpoint(let mode):
            do {
                if let done = try machine.inDaemon({ try $0.replica.checkpoint(mode) }) ?? nil {
                    note(
                        "machine \(machine.index) checkpoints \(done.movedPages) of \(done.logPages) pages: \(mode.rawValue)"
                    )
                    if done.movedPages > 0 { counts.note(.checkpointed) }
                }
            } catch {
                note("machine \(machine.index) cannot checkpoint: \(SyncError(wrapping: error).code)")
            }
            if machine.isDead { try crash(machine) }
        case .refuseCommit(let number):
            machine.refusal = number
        }
    }
}

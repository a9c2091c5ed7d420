import SimulatedDisk

/// What goes wrong at the disk of one machine.
struct DiskFault: Sendable {
    /// One of ``FaultKind/ofDisks``.
    let kind: FaultKind
    /// nil for what happens at once.
    let fault: SimulatedDisk.Fault?
    /// Whether the daemon dies and starts again first, so that it finds the disk like that.
    let isAtStart: Bool
    /// Milliseconds: how long the daemon is down afterwards, or how long the fault stands.
    let time: Int64
    /// Milliseconds: of a loss of power, how long before it the processes die of the fault; 0 when both is one.
    let lead: Int64
    /// Of a loss of power: what becomes of writes that were not synced.
    let seed: UInt64

    /// Whether the daemon is up again before the power goes.
    var isUpInBetween: Bool { lead > 0 && seed % 4 != 0 }

    /// Whether all processes on the machine die of it.
    var isDeadly: Bool { kind == .crashAtWrite || kind == .powerLoss }
}

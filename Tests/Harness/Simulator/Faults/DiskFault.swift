import SimulatedDisk

/// A fault at the disk of one machine.
struct DiskFault: Sendable {
    /// One of ``FaultKind/ofDisks``.
    let kind: FaultKind
    /// nil for a fault that happens at once.
    let fault: SimulatedDisk.Fault?
    /// True when the daemon first dies and starts again, so that it finds the disk like that.
    let isAtStart: Bool
    /// Milliseconds: how long the daemon is down afterwards, or how long the fault lasts.
    let time: Int64
    /// For a loss of power: the milliseconds between the death of the processes by the fault and the loss; 0
    /// when both are one.
    let lead: Int64
    /// For a loss of power: the seed for the unsynced writes.
    let seed: UInt64

    /// True when the daemon runs again before the power fails.
    var isUpInBetween: Bool { lead > 0 && seed % 4 != 0 }

    /// True when all processes on the machine die of the fault.
    var isDeadly: Bool { kind == .crashAtWrite || kind == .powerLoss }
}

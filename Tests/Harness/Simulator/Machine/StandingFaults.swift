import SimulatedDisk

/// The armed faults of a machine's disk, with their numbers there.
struct StandingFaults {
    private var standing: [(fault: DiskFault, number: Int)] = []

    /// Arms a fault. Does nothing for a fault of another kind, and when 16 faults are armed.
    mutating func arm(_ fault: DiskFault, on disk: SimulatedDisk) {
        guard let plan = fault.fault, standing.count < 16 else { return }
        standing.append((fault, disk.add(plan)))
    }

    func haveHappened(on disk: SimulatedDisk) -> Bool { standing.contains { disk.happened($0.number) > 0 } }

    /// True when a fault happened that can end a commit in the middle and keeps the process alive.
    func haveErred(on disk: SimulatedDisk) -> Bool {
        standing.contains { [.diskError, .diskFull].contains($0.fault.kind) && disk.happened($0.number) > 0 }
    }

    /// The last fault that happened and kills all processes.
    func deadly(on disk: SimulatedDisk) -> DiskFault? {
        standing.last { $0.fault.isDeadly && disk.happened($0.number) > 0 }?.fault
    }

    /// - Returns: The kinds of faults that happened.
    mutating func end(on disk: SimulatedDisk) -> [FaultKind] {
        defer {
            standing = []
            disk.clearFaults()
        }
        return standing.filter { disk.happened($0.number) > 0 }.map(\.fault.kind)
    }
}

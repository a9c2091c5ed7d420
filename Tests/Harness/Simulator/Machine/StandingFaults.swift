import SimulatedDisk

/// The faults that stand at a machine's disk, with their numbers there.
struct StandingFaults {
    private var standing: [(fault: DiskFault, number: Int)] = []

    /// Nothing for what is no fault of a disk, and while many stand.
    mutating func arm(_ fault: DiskFault, on disk: SimulatedDisk) {
        guard let plan = fault.fault, standing.count < 16 else { return }
        standing.append((fault, disk.add(plan)))
    }

    func haveHappened(on disk: SimulatedDisk) -> Bool { standing.contains { disk.happened($0.number) > 0 } }

    /// Whether one of them has happened that can end a commit in the middle, and leaves its process alive.
    func haveErred(on disk: SimulatedDisk) -> Bool {
        standing.contains { [.diskError, .diskFull].contains($0.fault.kind) && disk.happened($0.number) > 0 }
    }

    /// The last one that happened of those of which all processes die.
    func deadly(on disk: SimulatedDisk) -> DiskFault? {
        standing.last { $0.fault.isDeadly && disk.happened($0.number) > 0 }?.fault
    }

    /// - Returns: The kinds of those that happened.
    mutating func end(on disk: SimulatedDisk) -> [FaultKind] {
        defer {
            standing = []
            disk.clearFaults()
        }
        return standing.filter { disk.happened($0.number) > 0 }.map(\.fault.kind)
    }
}

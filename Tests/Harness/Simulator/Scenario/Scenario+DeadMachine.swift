import Journal
import Sync
import TestSupport

/// A machine that is off for longer than its lease, while others write.
extension Scenario {
    /// The others do not wait for it: within bounded time, everything that they have is stable (P16). When it is
    /// switched on again, all machines know the same within bounded time (P21).
    func outlive() throws {
        var random = streams.stream(.checks, 1)
        guard hasShortLease, try settles() else { return }
        let machine = machines[random.below(machines.count)]
        let others = machines.filter { $0 !== machine }
        try stop(machine, downFor: Scenario.forGood)
        // A machine that is cut off by this becomes stable by itself, once the leases of those beyond have ended.
        let writer = others[random.below(others.count)]
        for _ in 0..<3 { try write(writer, [], tokens: 1, isMarked: false, dies: false) }
        let end = scheduler.now + 3_600_000
        while let waiting = try others.first(where: { try !isStable($0) }) {
            guard scheduler.now < end else {
                throw try unstable(waiting, "an hour after machine \(machine.index) was stopped")
            }
            setClocksRight()
            try scheduler.run(until: scheduler.now + 10_000)
        }
        counts.note(.outlived)
        start(machine)
        try becomeLevel()
        for machine in machines { try checkDeeply(machine) }
    }

    /// Longer than any scenario, in milliseconds.
    private static let forGood: Int64 = 1 << 50
}

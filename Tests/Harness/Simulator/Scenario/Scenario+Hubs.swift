import Sync
import TestSupport

/// The hubs of the first archive.
extension Scenario {
    func makeHubs() -> [SimulatedHub] {
        guard let store = shared.first?.store, let plan = plan.hubs else { return [] }
        counts.note(FaultKind.hub)
        return (0..<plan.count).map { index in
            SimulatedHub(
                index, scheduler: scheduler, clock: MachineClock(scheduler, start: latestTime, drift: 0), store: store,
                limits: self.plan.limits, entropy: streams.stream(.hubs, 4 + index))
        }
    }

    func startHub(_ index: Int) {
        let others = plan.hubs?.followEachOther == true ? hubs.indices.filter { $0 != index } : []
        hubs[index].start(peers: others.map { transport(from: hubs[index].address, toHub: $0) })
        note("hub \(index) is up")
    }

    /// Lets a machine that starts again reach the archive in another way, as operators change configurations.
    func moveBetweenHubs(_ machine: SimulatedMachine) {
        guard plan.kinds.contains(.hubMove), let hubs = plan.hubs, machine.index != hubs.direct,
            shared.first?.members.contains(machine.index) ?? false
        else { return }
        let start = starts[machine.index, default: 0]
        starts[machine.index] = start + 1
        guard start > 0 else { return }
        var random = streams.stream(.hubs, (machine.index + 1) << 16 | start)
        let hub = random.chance(40) ? nil : random.below(hubs.count)
        guard hub != hubOf[machine.index] else { return }
        counts.note(FaultKind.hubMove)
        hubOf[machine.index] = hub
        note("machine \(machine.index) reaches the archive \(hub.map { "by hub \($0)" } ?? "itself")")
    }

    func crashHub(_ index: Int, downFor: Int64) {
        // Shrinking may have left out the hubs.
        guard hubs.indices.contains(index), hubs[index].server != nil else { return }
        counts.note(FaultKind.hubCrash)
        note("hub \(index) is dead")
        hubs[index].kill()
        network.disconnect(hubs[index].address)
        scheduler.after(downFor) { [unowned self] in startHub(index) }
    }

    func transport(from address: Int, toHub index: Int) -> SimulatedTransport {
        SimulatedTransport(
            name: "hub-\(index)", network: network, from: address, to: SimulatedHub.address(of: index),
            limits: plan.limits)
    }

    /// The machine at an address of the network; nil for a hub.
    func machine(at address: Int) -> SimulatedMachine? { SimulatedHub.isAddress(address) ? nil : machines[address] }

    /// The server at an address of the network; nil while it is down.
    func server(at address: Int) -> Server? {
        guard let machine = machine(at: address) else { return hubs.first { $0.address == address }?.server }
        return machine.isDead ? nil : machine.daemon?.server
    }

    /// True when the processes at an address have just died.
    func isDead(at address: Int) -> Bool {
        guard let machine = machine(at: address) else { return server(at: address) == nil }
        return machine.isDead
    }
}

import GRDB
import Journal
import MergeModel
import Sync
import TestSupport

/// Bit rot: a bit of a row changes on a disk.
extension Scenario {
    /// The change, and the state before it.
    struct BitRot {
        let machine: SimulatedMachine
        let value: RottenValue
        /// What all machines knew.
        let vector: VersionVector
        /// The time on the clock of each machine.
        let times: [Int64]
    }

    /// Lets a value rot on one machine, when all know the same. A comparison with a peer must find it within
    /// bounded time, and no machine may take it for a change.
    func bitRot() throws {
        // Machines of different schemas may show different rows.
        guard plan.kinds.contains(.bitRot), plan.schema.additions.isEmpty else { return }
        // What a restored file has lost may still arrive, and be merged over the rotten value.
        try scheduler.run(
            until: shared.map(\.store.latestArrival).reduce(max(scheduler.now, network.latestArrival), max))
        try becomeLevel()
        var random = streams.stream(.bitRot, 1)
        let machine = random.pick(machines)
        // An archive holds changes, not rows.
        let isCompared = machines.indices.contains { pulls(machine.index, from: $0) || pulls($0, from: machine.index) }
        guard isCompared else { return }
        let vector = try FileView(machine: machine).vector()
        let times = machines.map { $0.clock.wallMilliseconds() }
        let value = try machine.bitRot(&random)
        network.disconnect(machine.index)
        guard let value else {
            note("no value rots on machine \(machine.index)")
            return start(machine)
        }
        counts.note(FaultKind.bitRot)
        note(
            "machine \(machine.index): bit \(value.bit) of byte \(value.offset), in \(value.table).\(value.column); it was \(value.remedy)"
        )
        let bitRot = BitRot(machine: machine, value: value, vector: vector, times: times)
        decayed = bitRot
        start(machine)
        try wait(for: "nobody notices the bit rot on machine \(machine.index)") {
            try checkUnsent(bitRot)
            return try isNoticed(bitRot)
        }
        counts.note(.decayNoticed)
    }

    /// Restores the value by a write that is no change, as a repair does.
    func mend() throws {
        guard let bitRot = decayed else { return }
        try checkUnsent(bitRot)
        _ = try bitRot.machine.inDaemon { daemon in
            let connection = try daemon.replica.openMergeConnection()
            try connection.write { try $0.execute(sql: bitRot.value.remedy) }
            try connection.close()
        }
        note("machine \(bitRot.machine.index) is repaired")
        decayed = nil
        try wait(for: "the alarm does not end after machine \(bitRot.machine.index) was repaired") {
            try machines.allSatisfy { machine in try notes(of: machine).allSatisfy { $0.mismatches.isEmpty } }
        }
        for machine in machines { try checkDeeply(machine) }
    }

    private func checkUnsent(_ bitRot: BitRot) throws {
        let known = try FileView(machine: bitRot.machine).vector()
        guard known == bitRot.vector else {
            throw Violation("P5", "the rotten value of machine \(bitRot.machine.index) was sent: now it knows \(known)")
        }
    }

    private func wait(for what: String, _ isDone: () throws -> Bool) throws {
        // A comparison may take an exchange for each row, and an exchange some seconds.
        let end = scheduler.now + 1_800_000
        while try !isDone() {
            guard scheduler.now < end else { throw Violation("P2", "\(what), for 30 minutes") }
            try scheduler.run(until: scheduler.now + 2_000)
        }
    }

    /// True when a machine has found since then that it differs from a peer in that table.
    private func isNoticed(_ bitRot: BitRot) throws -> Bool {
        try zip(machines, bitRot.times).contains { machine, time in
            try notes(of: machine).contains { note in
                (note.comparedMilliseconds ?? 0) > time && note.mismatches.contains { $0.table == bitRot.value.table }
            }
        }
    }

    /// The notes of a machine about the peers that it follows. A copied file has also the notes of its
    /// original.
    private func notes(of machine: SimulatedMachine) throws -> [PeerRecord] {
        let names = Set(follows[machine.index].map { "machine-\($0)" })
        let notes = try machine.daemon?.replicator.inbox.peers.all() ?? []
        return notes.filter { names.contains($0.name) }
    }
}

import GRDB
import Journal
import MergeModel
import Sync
import TestSupport

/// Bits that change on a disk, where a row stands.
extension Life {
    /// What has changed, and what was before.
    struct Decay {
        let machine: Machine
        let value: DecayedValue
        /// What the machines knew, all the same.
        let vector: VersionVector
        /// What the clock of each machine showed.
        let times: [Int64]
    }

    /// Lets a value decay on one machine, when all know the same. A comparison with a peer finds that in time, and nobody takes it for a
    /// change.
    func decay() throws {
        // Machines of different schemas may show different rows.
        guard plan.kinds.contains(.decay), plan.schema.additions.isEmpty else { return }
        // What a restored file has lost may still be on its way, and be merged over what has decayed.
        try scheduler.run(until: max(scheduler.now, network.latestArrival))
        try becomeLevel()
        var random = streams.stream(.decay, 1)
        let machine = random.pick(machines)
        let vector = try FileView(machine: machine).vector()
        let times = machines.map { $0.clock.wallMilliseconds() }
        let value = try machine.decay(&random)
        network.disconnect(machine.index)
        guard let value else {
            note("nothing decays on machine \(machine.index)")
            return start(machine)
        }
        counts.note(FaultKind.decay)
        note("machine \(machine.index): bit \(value.bit) of byte \(value.offset), in \(value.table).\(value.column)")
        let decay = Decay(machine: machine, value: value, vector: vector, times: times)
        decayed = decay
        start(machine)
        try wait(for: "nobody notices what has decayed on machine \(machine.index)") { try isNoticed(decay) }
        counts.note(.decayNoticed)
    }

    /// The value becomes what it was, by a write that is no change: as a repair does it.
    func mend() throws {
        guard let decay = decayed else { return }
        let known = try FileView(machine: decay.machine).vector()
        guard known == decay.vector else {
            throw Violation("P5", "what decayed on machine \(decay.machine.index) was sent: now it knows \(known)")
        }
        _ = try decay.machine.inDaemon { daemon in
            let connection = try daemon.replica.openMergeConnection()
            try connection.write { try $0.execute(sql: decay.value.remedy) }
            try connection.close()
        }
        note("machine \(decay.machine.index) is mended")
        decayed = nil
        try wait(for: "the alarm does not end after machine \(decay.machine.index) was mended") {
            try machines.allSatisfy { machine in try notes(of: machine).allSatisfy { $0.mismatches.isEmpty } }
        }
        for machine in machines { try checkDeeply(machine) }
    }

    private func wait(for what: String, _ isDone: () throws -> Bool) throws {
        let end = scheduler.now + 300_000
        while try !isDone() {
            guard scheduler.now < end else { throw Violation("P2", "\(what), for 5 minutes") }
            try scheduler.run(until: scheduler.now + 2_000)
        }
    }

    /// Whether a machine has found since then that it differs from a peer in that table.
    private func isNoticed(_ decay: Decay) throws -> Bool {
        try zip(machines, decay.times).contains { machine, time in
            try notes(of: machine).contains { note in
                (note.comparedMilliseconds ?? 0) > time && note.mismatches.contains { $0.table == decay.value.table }
            }
        }
    }

    /// What a machine's file says of the peers that it follows: a copied file also tells of those that its original followed.
    private func notes(of machine: Machine) throws -> [PeerRecord] {
        let names = Set(follows[machine.index].map { "machine-\($0)" })
        let notes = try machine.daemon?.replica.read { try PeerLedger.all($0) } ?? []
        return notes.filter { names.contains($0.name) }
    }
}

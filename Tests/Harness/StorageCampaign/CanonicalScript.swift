import GRDB
import Journal
import SimulatedDisk
import Sync

/// A script with each use of the disk once: open, commit, push, pull, merge, checkpoint, migrate, take a new
/// identity, close.
final class CanonicalScript {
    static let durability = Replica.Durability.full

    let disk: SimulatedDisk
    let peer: CampaignMachine
    let witness: Witness
    private(set) var machine: CampaignMachine?
    /// The error of each failed step.
    private(set) var errors: [(step: String, error: any Error)] = []
    private let clock: CampaignClock
    private var nextToken = 1

    /// - Parameter peerDisk: A disk with a replica that has met no peer; it does not change.
    init(peerDisk: SimulatedDisk, clock: CampaignClock) throws {
        self.clock = clock
        disk = SimulatedDisk(machine: 1)
        disk.setVirtualSleep(true)
        witness = Witness(of: disk)
        peer = try CampaignMachine.start(
            on: peerDisk.copy(), origin: CanonicalScript.peerOrigin, durability: CanonicalScript.durability,
            clock: clock)
    }

    static let origin = OriginID(high: 0x50 << 56, low: 1)
    static let peerOrigin = OriginID(high: 0x40 << 56, low: 1)

    /// Makes a peer's disk from which ``init(peerDisk:clock:)`` can start any number of times.
    static func makePeerDisk(clock: CampaignClock) throws -> SimulatedDisk {
        let disk = SimulatedDisk(machine: 2)
        let peer = try CampaignMachine.start(on: disk, origin: peerOrigin, durability: durability, clock: clock)
        try peer.migrate(to: 0)
        try peer.close()
        return disk
    }

    /// Runs all steps. A failed step is skipped, as by a program that reports the error and continues. Steps
    /// that need an open file are skipped when it could not be opened.
    func run() async {
        await step("opening") {
            machine = try CampaignMachine.start(
                on: disk, origin: CanonicalScript.origin, durability: CanonicalScript.durability, clock: clock)
        }
        guard let machine else { return }
        await step("making tables") { try machine.migrate(to: 0) }
        for id in 1...3 { await commit("UPSERT", [id, id + 1]) }
        await step("pushing") { try await exchange(machine, with: peer) }
        await step("writing at the peer") { try write("p1", [1, 2, 9], to: peer) }
        await commit("conflicting", [1, 9])
        await step("pulling") { try await exchange(machine, with: peer) }
        await commit("large", Array(1...40))
        await step("writing much at the peer") { try write("p2", Array(20...60), to: peer) }
        await step("answering") { try await exchange(peer, with: machine) }
        await step("checkpointing") { _ = try machine.replica.checkpoint(.truncate) }
        await commit("after the log", [3])
        await step("migrating") { try machine.migrate(to: 2) }
        await commit("after the migration", [4])
        await step("taking a new identity") { _ = try machine.inbox.rekey() }
        await commit("under the new name", [5])
        await step("an exchange at the end") { try await exchange(machine, with: peer) }
        await step("closing") {
            // The file is closed also when the checkpoint failed.
            self.machine = nil
            try machine.close()
        }
    }

    private func step(_ name: String, _ body: () async throws -> Void) async {
        guard !disk.isDown else { return }
        clock.advance(milliseconds: 1)
        do { try await body() } catch { errors.append((name, error)) }
    }

    private func commit(_ name: String, _ ids: [Int]) async {
        let token = "m\(nextToken)"
        nextToken += 1
        witness.attempt(token)
        await step("committing (\(name))") {
            guard let machine else { return }
            try write(token, ids, to: machine)
            witness.acknowledge(token)
        }
    }

    func write(_ token: String, _ ids: [Int], to machine: CampaignMachine) throws {
        try machine.write { db in
            try db.execute(sql: "INSERT INTO token VALUES (?, ?)", arguments: [token, ids.count])
            for id in ids {
                try db.execute(
                    sql: """
                        INSERT INTO item (id, owner, n) VALUES (?, ?, 1)
                        ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, n = n + 1
                        """, arguments: [id, token])
            }
            try db.execute(sql: "DELETE FROM item WHERE id = ?", arguments: [(ids.first ?? 0) + 2])
        }
    }

    func exchange(_ from: CampaignMachine, with to: CampaignMachine) async throws {
        let isCaller = from !== peer
        let transport = WitnessedTransport(
            base: LocalTransport(to.endpoint, name: to.disk.directory), end: isCaller ? .caller : .answerer,
            peer: peer.disk, witness: witness)
        let report = try await from.exchange(over: transport)
        guard report.mismatches.isEmpty else {
            throw CampaignFailure("P1", "the content differs: \(report.mismatches)")
        }
    }

    /// Ends the process with everything that it has open.
    func kill() {
        disk.clearFaults()
        disk.crash()
        try? machine?.close()
        machine = nil
        disk.start()
    }
}

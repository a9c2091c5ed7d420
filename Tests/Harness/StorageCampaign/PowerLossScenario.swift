import Foundation
import GRDB
import Journal
import SimulatedDisk
import Sync
import TestSupport

/// A machine that works with a peer, and its disk after a loss of power at many moments.
final class PowerLossScenario {
    struct Counts: Sendable {
        var transactions = 0
        var exchanges = 0
        var moments = 0
        var images = 0
        var exchangedImages = 0
        var faults = 0
        var compacted = 0
        var returns = 0
        var clones = 0
        /// Images by kind of loss.
        var byLoss: [String: Int] = [:]
    }

    var counts = Counts()

    private let seed: UInt64
    private var random: SplitMix
    /// Draws what happens to the file besides; nil when nothing does.
    var lifecycle: SplitMix?
    let durability: Replica.Durability
    /// True when the disk also fails from time to time.
    private let isFaulty: Bool
    private let clock = CampaignClock()
    let witness: Witness
    var machine: CampaignMachine
    var peer: CampaignMachine
    /// What the journals of both held at some time.
    var archive = StoredChanges()
    /// True while the machine's process has ended. A restart may fail with the disk.
    private var isDown = false
    /// The disk of a replica that has met nobody.
    private let strangerDisk: SimulatedDisk
    private var level = 0
    private var nextToken = 1
    private var nextPeerToken = 1
    /// Transactions in the order of the machine's journal.
    private var order: [String] = []
    /// The same before a return: the journal is another one then.
    private var formerOrder: [String] = []
    /// The clones, and what the complete ones have at least.
    var clones: [(name: String, vector: VersionVector?)] = []

    private static let origins = (
        machine: OriginID(high: 0x50 << 56, low: 1), peer: OriginID(high: 0x40 << 56, low: 1),
        // For a machine that lost its whole file: a new replica never takes the origin of an old one.
        successor: OriginID(high: 0x58 << 56, low: 1),
        stranger: OriginID(high: 0x60 << 56, low: 1)
    )

    init(seed: UInt64) throws {
        self.seed = seed
        random = SplitMix(seed: seed)
        var life = SplitMix(seed: seed ^ 0x11FE)
        lifecycle = life.chance(50) ? life : nil
        durability = random.chance(50) ? .full : .normal
        isFaulty = random.chance(25)
        SimulatedDisk.seedRandomness(seed)
        let disk = SimulatedDisk(machine: 1)
        witness = Witness(of: disk)
        strangerDisk = SimulatedDisk(machine: 3)
        let stranger = try CampaignMachine.start(
            on: strangerDisk, origin: PowerLossScenario.origins.stranger, durability: .full, clock: clock)
        try stranger.migrate(to: 0)
        try stranger.close()
        peer = try CampaignMachine.start(
            on: SimulatedDisk(machine: 2), origin: PowerLossScenario.origins.peer, durability: .full, clock: clock)
        try peer.migrate(to: 0)
        machine = try CampaignMachine.start(
            on: disk, origin: PowerLossScenario.origins.machine, durability: durability, clock: clock)
        try machine.migrate(to: 0)
        witness.took(peer.disk, sentAfter: 0)
    }

    /// - Parameter most: The most images to check.
    func run(steps: Int, imagesPerMoment: Int, most: Int) async throws {
        for step in 0..<steps where counts.images < most {
            clock.advance(milliseconds: Int64(random.below(40)))
            machine.disk.add(
                .init(.capture, .random(perMillion: 250_000, seed: random.next()), of: .changes))
            let fault = addFault()
            let what: String
            formerOrder = order
            do {
                if let done = try await lifecycleStep() { what = done } else { what = try await self.step() }
            } catch {
                guard let fault, machine.disk.happened(fault) > 0 else { throw error }
                what = "a step that failed: \(error)"
            }
            if let fault { counts.faults += machine.disk.happened(fault) }
            machine.disk.clearFaults()
            if isDown { try startAgain() }
            order = try collect().tokens
            var moments: [SimulatedDisk] = []
            while let moment = machine.disk.takeCapture() { moments.append(moment) }
            moments.append(machine.disk.copy())
            for moment in moments {
                counts.moments += 1
                do {
                    try await look(at: moment, images: imagesPerMoment, most: most)
                } catch let error as CampaignFailure {
                    throw CampaignFailure(
                        error.promise, "\(error.detail) (seed \(seed), \(durability), step \(step): \(what))")
                } catch {
                    throw CampaignFailure("P21", "\(error) (seed \(seed), \(durability), step \(step): \(what))")
                }
            }
            witness.forgetPeers()
            removeClones()
        }
        try machine.close()
        try peer.close()
    }

    private func addFault() -> Int? {
        guard isFaulty, random.chance(30) else { return nil }
        let kind = random.pick([SimulatedDisk.Fault.Kind.fail, .full, .short])
        return machine.disk.add(
            .init(kind, .at(1 + random.below(12)), of: [.write, .sync, .namesSync, .truncate]))
    }

    // MARK: - Steps

    private func step() async throws -> String {
        switch random.below(100) {
        case 0..<45:
            try write()
            return "a write"
        case 45..<55:
            try peerWrites()
            return "a write of the peer"
        case 55..<68:
            try await exchange(calling: true)
            return "an exchange"
        case 68..<80:
            try await exchange(calling: false)
            return "an exchange by the peer"
        case 80..<91:
            _ = try machine.replica.checkpoint(random.pick([.passive, .restart, .truncate]))
            return "a checkpoint"
        case 91..<95:
            level += 1
            try machine.migrate(to: level)
            try peer.migrate(to: level)
            return "a migration"
        case 95..<99:
            isDown = true
            try machine.close()
            try startAgain()
            return "a restart"
        default:
            _ = try machine.inbox.rekey()
            return "a new identity"
        }
    }

    private func startAgain() throws {
        machine = try restart(machine.disk, durability)
        isDown = false
    }

    private func restart(_ disk: SimulatedDisk, _ durability: Replica.Durability) throws -> CampaignMachine {
        try CampaignMachine.start(
            on: disk, origin: PowerLossScenario.origins.successor, durability: durability, clock: clock)
    }

    private func write() throws {
        for _ in 0..<(1 + random.below(4)) {
            let token = "m\(nextToken)"
            nextToken += 1
            witness.attempt(token)
            try write(token, to: machine)
            witness.acknowledge(token)
            counts.transactions += 1
        }
    }

    private func peerWrites() throws {
        try write("p\(nextPeerToken)", to: peer)
        nextPeerToken += 1
    }

    private func write(_ token: String, to machine: CampaignMachine) throws {
        let statements = random.chance(6) ? 60 : 1 + random.below(4)
        try machine.write { db in
            try db.execute(sql: "INSERT INTO token VALUES (?, ?)", arguments: [token, statements])
            for _ in 0..<statements {
                let id = random.below(40)
                switch random.below(10) {
                case 0..<5:
                    let note = String(repeating: "x", count: random.below(60))
                    try db.execute(
                        sql: """
                            INSERT INTO item (id, owner, n, note) VALUES (?, ?, ?, ?)
                            ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, n = excluded.n
                            """, arguments: [id, token, random.below(1_000), note])
                case 5..<8:
                    try db.execute(sql: "UPDATE item SET n = n + 1, owner = ? WHERE id = ?", arguments: [token, id])
                default: try db.execute(sql: "DELETE FROM item WHERE id = ?", arguments: [id])
                }
            }
        }
    }

    private func exchange(calling: Bool) async throws {
        let (from, to) = calling ? (machine, peer) : (peer, machine)
        let transport = WitnessedTransport(
            base: LocalTransport(to.endpoint, name: to.disk.directory), end: calling ? .caller : .answerer,
            peer: peer.disk, witness: witness)
        let report = try await from.exchange(over: transport)
        guard report.mismatches.isEmpty else {
            throw CampaignFailure("P1", "the content differs: \(report.mismatches)")
        }
        counts.exchanges += 1
    }

    // MARK: - After the loss of power

    private func look(at moment: SimulatedDisk, images: Int, most: Int) async throws {
        var seen: Set<UInt64> = []
        for loss in [SimulatedDisk.Loss.all, .none] + (2..<max(2, images)).map({ _ in .bySeed }) {
            guard counts.images < most else { return }
            let seed = random.next()
            let kind = loss == .bySeed ? random.pick([.tail, .writes, .sectors, .reordered]) : loss
            let image = moment.powerLoss(seed: seed, kind)
            // Equal bytes give equal results.
            guard seen.insert(image.digest).inserted else { continue }
            counts.images += 1
            counts.byLoss[kind.rawValue, default: 0] += 1
            do {
                try await look(at: image, of: moment, kind)
            } catch let error as CampaignFailure {
                throw CampaignFailure(error.promise, "\(error.detail), after the loss of \(kind) with seed \(seed)")
            }
        }
    }

    private func look(at image: SimulatedDisk, of moment: SimulatedDisk, _ loss: SimulatedDisk.Loss) async throws {
        let isDurable = durability == .full || loss == .none
        let survivor = try restart(image, durability)
        let state = try StoredState(survivor.replica, archive)
        for problem in try survivor.replica.read({ try String.fetchAll($0, sql: "PRAGMA integrity_check") })
        where problem != "ok" {
            throw CampaignFailure("P17", "the database is damaged: \(problem)")
        }
        if let problem = state.problems.first { throw CampaignFailure("P9, P20", problem) }
        try checkTokens(state, moment.copiedAfter, isDurable: isDurable)
        if isDurable {
            guard survivor.inbox.lastRekey == nil else {
                throw CampaignFailure(
                    "P14", "a new identity without need: \(survivor.inbox.lastRekey.map(\.sentence) ?? "")")
            }
            let vector = try survivor.inbox.have()
            guard vector.covers(witness.promised(before: moment.copiedAfter)) else {
                throw CampaignFailure("P4", "a peer was promised more than there is")
            }
        }
        try checkClones(on: image)
        if random.chance(25) { try await goOn(survivor, moment.copiedAfter) }
        try survivor.close()
    }

    private func checkTokens(_ state: StoredState, _ moment: Int, isDurable: Bool) throws {
        if isDurable {
            let there = Set(state.tokens)
            for token in witness.acknowledged(before: moment) where !there.contains(token) {
                throw CampaignFailure("P3", "the acknowledged transaction \(token) is lost")
            }
        }
        // A failed step may still have its transaction in the file. It was never confirmed, so another one
        // may be before it.
        let survivors = state.tokens.filter { !witness.undecided.contains($0) }
        let isPrefix = [order, formerOrder].contains { order in
            order.filter { !witness.undecided.contains($0) }.starts(with: survivors)
        }
        guard isPrefix else {
            throw CampaignFailure("P3", "what survived is no prefix: \(survivors.suffix(5)) of \(order.suffix(8))")
        }
    }

    /// The survivor continues, with a replica that has met nobody and with the peer.
    private func goOn(_ survivor: CampaignMachine, _ moment: Int) async throws {
        guard let peerDisk = witness.peer(at: moment) else { return }
        counts.exchangedImages += 1
        let known = try restart(peerDisk.copy(), .full)
        // Who has met nobody gets nothing from those who have compacted.
        let stranger = lifecycle == nil ? try restart(strangerDisk.copy(), .full) : nil
        let all = [survivor, known] + (stranger.map { [$0] } ?? [])
        let before = try StoredState(known.replica, archive)
        for machine in all { try machine.migrate(to: level) }
        clock.advance(milliseconds: 1)
        for number in 1...2 { try write("later\(number)", to: survivor) }
        let survivorCalls = random.chance(50)
        if survivorCalls {
            if let stranger { try await survivor.exchange(with: stranger) }
            try await survivor.exchange(with: known)
        } else {
            try await known.exchange(with: survivor)
            if let stranger { try await stranger.exchange(with: survivor) }
        }
        if let stranger { try await stranger.exchange(with: known) }
        try await survivor.exchange(with: known)
        if let stranger {
            try await survivor.exchange(with: stranger)
            try await stranger.exchange(with: known)
        }
        var later = archive
        for machine in all { later.add(try StoredState(machine.replica).changes) }
        let states = try all.map { try StoredState($0.replica, later) }
        for state in states {
            if let problem = state.problems.first { throw CampaignFailure("P9, P20", "afterwards, \(problem)") }
            if let contradiction = before.contradiction(with: state) { throw CampaignFailure("P14", contradiction) }
            guard state.vector == states[0].vector else { throw CampaignFailure("P21", "the vectors stay different") }
            guard state.tables == states[0].tables else { throw CampaignFailure("P1", "the contents stay different") }
        }
        let there = Set(states[0].tokens)
        for token in before.tokens + ["later1", "later2"] where !there.contains(token) {
            throw CampaignFailure("P15", "the transaction \(token), which was known before, is lost")
        }
        try known.close()
        try stranger?.close()
    }
}

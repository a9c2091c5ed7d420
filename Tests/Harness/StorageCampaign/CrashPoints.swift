import GRDB
import Journal
import SimulatedDisk
import Sync

/// Runs ``CanonicalScript`` with each kind of fault at each operation on the disk.
package enum CrashPoints {
    /// A kind of fault, at one of the operations that it can happen to.
    package enum Mode: String, CaseIterable, Sendable {
        case failOnce = "EIO once"
        case failForever = "EIO for ever"
        case full = "ENOSPC"
        case syncFails = "fsync fails once"
        case short = "a short write"
        case busy = "BUSY"
        case crashBefore = "crash before"
        case crashAfter = "crash after"

        func fault(at operation: Int) -> SimulatedDisk.Fault {
            switch self {
            case .failOnce: .init(.fail, .at(operation))
            case .failForever: .init(.fail, .from(operation))
            case .full: .init(.full, .from(operation), of: [.open, .write, .truncate, .shareMap])
            case .syncFails: .init(.fail, .at(operation), of: [.sync, .namesSync])
            case .short: .init(.short, .at(operation), of: .write)
            case .busy: .init(.busy, .at(operation), of: .locks)
            case .crashBefore: .init(.crashBefore, .at(operation), of: .changes)
            case .crashAfter: .init(.crashAfter, .at(operation), of: .changes)
            }
        }
    }

    package struct Report: Sendable {
        /// The number of operations for each mode, and how many of them were tried.
        package var points: [Mode: Int] = [:]
        package var tried: [Mode: Int] = [:]
        /// Trials in which a step of the script failed.
        package var withErrors = 0
        package var failures: [String] = []

        package var total: Int { points.values.reduce(0, +) }
        package var totalTried: Int { tried.values.reduce(0, +) }
    }

    /// - Parameters:
    ///   - stride: Tries each `stride`-th operation, from a different first one for each mode; 1 for all.
    ///   - progress: Called after each mode.
    package static func run(
        modes: [Mode] = Mode.allCases, stride: Int = 1, progress: (Mode, Report) -> Void = { _, _ in }
    ) async -> Report {
        var report = Report()
        for (index, mode) in modes.enumerated() {
            var operation = 1 + index % stride
            var hasEnded = false
            while !hasEnded, report.failures.count < 5 {
                do {
                    let trial = try await Trial.run(mode, at: operation)
                    hasEnded = !trial.happened
                    if trial.happened { report.tried[mode, default: 0] += 1 }
                    if trial.hadErrors { report.withErrors += 1 }
                    report.points[mode] = trial.happened ? operation : max(report.points[mode] ?? 0, trial.operations)
                } catch {
                    report.failures.append("\(mode.rawValue) at operation \(operation): \(error)")
                }
                operation += stride
            }
            progress(mode, report)
        }
        return report
    }
}

/// One run of the script with one fault.
private struct Trial {
    var happened = false
    var hadErrors = false
    /// The number of the script's operations for this mode.
    var operations = 0

    static func run(_ mode: CrashPoints.Mode, at operation: Int) async throws -> Trial {
        let clock = CampaignClock()
        let script = try CanonicalScript(peerDisk: CanonicalScript.makePeerDisk(clock: clock), clock: clock)
        let fault = mode.fault(at: operation)
        let number = script.disk.add(fault)
        await script.run()
        var trial = Trial()
        trial.happened = script.disk.happened(number) > 0
        trial.hadErrors = !script.errors.isEmpty
        trial.operations = script.disk.count(fault.operations)
        let story = script.errors.map { "\($0.step): \($0.error)" }.joined(separator: "; ")
        do {
            try await check(script, trial, operation, clock)
        } catch let error as CampaignFailure {
            throw CampaignFailure(error.promise, "\(error.detail) [\(story)]")
        } catch {
            throw CampaignFailure("P21", "\(error) [\(story)]")
        }
        return trial
    }

    private static func check(
        _ script: CanonicalScript, _ trial: Trial, _ operation: Int, _ clock: CampaignClock
    ) async throws {
        if !trial.happened, let error = script.errors.first { throw error.error }
        for (step, error) in script.errors
        where !(error is JournalError || error is SyncError || error is DatabaseError) {
            throw CampaignFailure("F8", "\(step) threw \(type(of: error)), which no caller expects: \(error)")
        }
        // The fault is over; the same process continues.
        script.disk.clearFaults()
        if let machine = script.machine, !script.disk.isDown {
            do {
                try machine.migrate(to: 0)
                try script.write("resumed", [7], to: machine)
                script.witness.acknowledge("resumed")
            } catch {
                throw CampaignFailure("F6, F8", "the process does not recover: \(error)")
            }
        }
        let image = script.disk.powerLoss(seed: UInt64(operation))
        script.kill()
        try await reopen(script.disk, script, clock, isLast: false)
        try await reopen(image, script, clock, isLast: true)
    }

    private static func reopen(
        _ disk: SimulatedDisk, _ script: CanonicalScript, _ clock: CampaignClock, isLast: Bool
    ) async throws {
        clock.advance(milliseconds: 1)
        let survivor = try CampaignMachine.start(
            on: disk, origin: CanonicalScript.origin, durability: CanonicalScript.durability, clock: clock)
        for problem in try survivor.replica.read({ try String.fetchAll($0, sql: "PRAGMA integrity_check") })
        where problem != "ok" {
            throw CampaignFailure("P17", "the database is damaged: \(problem)")
        }
        let state = try StoredState(survivor.replica)
        if let problem = state.problems.first { throw CampaignFailure("P9, P20", problem) }
        let there = Set(state.tokens)
        for token in script.witness.acknowledged(before: .max) where !there.contains(token) {
            throw CampaignFailure("P3", "the acknowledged transaction \(token) is lost")
        }
        let have = try survivor.inbox.have()
        guard have.covers(script.witness.promised(before: .max)) else {
            throw CampaignFailure("P4", "a peer was promised more than there is")
        }
        if let rekey = survivor.inbox.lastRekey {
            throw CampaignFailure("P14", "a new identity without need: \(rekey.sentence)")
        }
        let peer =
            isLast
            ? script.peer
            : try CampaignMachine.start(
                on: script.peer.disk.copy(), origin: CanonicalScript.peerOrigin, durability: CanonicalScript.durability,
                clock: clock)
        let before = try StoredState(peer.replica)
        for machine in [survivor, peer] { try machine.migrate(to: 2) }
        try script.write("later", [2, 30], to: survivor)
        try await survivor.exchange(with: peer)
        let (a, b) = (try StoredState(survivor.replica), try StoredState(peer.replica))
        for state in [a, b] {
            if let problem = state.problems.first { throw CampaignFailure("P9, P20", "afterwards, \(problem)") }
            if let contradiction = before.contradiction(with: state) { throw CampaignFailure("P14", contradiction) }
        }
        guard a.vector == b.vector else { throw CampaignFailure("P21", "the vectors stay different") }
        guard a.tables == b.tables else { throw CampaignFailure("P1", "the contents stay different") }
        guard Set(before.tokens).isSubset(of: a.tokens) else {
            throw CampaignFailure("P15", "what the peer knew is lost")
        }
        try survivor.close()
        try peer.close()
    }
}

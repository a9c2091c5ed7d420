import GRDB
import Journal
import SimulatedDisk
import Sync
import TestSupport

/// Compaction, returns and clones, at any moment of which the power may fail.
extension PowerLossScenario {
    /// - Returns: What was done; nil when it is the turn of an ordinary step.
    func lifecycleStep() async throws -> String? {
        // Who has met nobody would compact everything, and the peer would get nothing.
        guard counts.exchanges > 0, var random = lifecycle else { return nil }
        let draw = random.below(100)
        lifecycle = random
        switch draw {
        case 0..<15:
            counts.compacted += try machine.compact()
            return "a compaction"
        case 15..<23 where durability == .full:
            // At NORMAL the machine may lose what it has confirmed, and would need a return.
            counts.compacted += try peer.compact()
            return "a compaction of the peer"
        case 23..<30 where try !peer.inbox.vector().isEmpty:
            try await comeBack()
            return "a return"
        case 30..<35:
            let name = "clone-\(clones.count).sqlite"
            clones.append((name, nil))
            let has = try peer.inbox.vector()
            _ = try await machine.clone(peer, to: name, token: "\(name) is copied")
            clones[clones.count - 1].vector = has
            counts.clones += 1
            return "a clone"
        default: return nil
        }
    }

    private func comeBack() async throws {
        let moment = machine.disk.count()
        // The peer's changes are published with its snapshot.
        let report = try await machine.comeBack(from: peer)
        witness.took(peer.disk, sentAfter: moment)
        // What the peer lacked of it is written again under the new identity.
        witness.replace(report.identity.old, keeping: report.identity.kept)
        counts.returns += 1
    }

    /// Reads the machine's file, and keeps what both journals hold before a compaction can remove it.
    func collect() throws -> StoredState {
        archive.add(try StoredState(peer.replica, archive).changes)
        let first = try StoredState(machine.replica, archive)
        archive.add(first.changes)
        return try StoredState(machine.replica, archive)
    }

    /// A clone has its name only when it is complete, a replica of its own, and on the medium.
    func checkClones(on image: SimulatedDisk) throws {
        for (name, vector) in clones where image.size(of: name) != nil {
            let replica = try image.openReplica(name)
            defer { try? replica.close() }
            for problem in try replica.read({ try String.fetchAll($0, sql: "PRAGMA integrity_check") })
            where problem != "ok" {
                throw CampaignFailure("P17", "the clone is damaged: \(problem)")
            }
            let state = try StoredState(replica, archive)
            if let problem = state.problems.first { throw CampaignFailure("P9, P20", "the clone: \(problem)") }
            if let vector, !state.vector.covers(vector) {
                throw CampaignFailure("P4", "the clone has \(state.vector), and its source had \(vector)")
            }
            let origins = try [machine.replica, peer.replica].map { try $0.identity().origin }
            guard !origins.contains(try replica.identity().origin) else {
                throw CampaignFailure("P14", "the clone has the identity of another replica")
            }
        }
    }

    /// Makes room. A loss of power may bring a clone back.
    func removeClones() {
        for (name, _) in clones {
            for suffix in ["", "-wal", "-identity", "-acks", "-peers", "-checkpoint"] {
                machine.disk.deleteFile(name + suffix)
            }
        }
    }
}

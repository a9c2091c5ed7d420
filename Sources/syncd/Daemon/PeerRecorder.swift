import Foundation
import GRDB
import Journal
import Logging
import ServiceLifecycle
import Sync

/// Writes down in `_journal_peers` how the peers are doing, so that `syncd status DB` and the next start know it.
///
/// Written only when something changed, and at most every few seconds: the daemon itself uses what it has in memory.
struct PeerRecorder: Service {
    static let interval: Duration = .seconds(5)

    let replica: Replica
    let replicator: Replicator
    let logger: Logger

    func run() async throws {
        var written: [PeerStatus] = []
        var isStopping = false
        while !isStopping {
            do {
                try await cancelWhenGracefulShutdown { try await Task.sleep(for: PeerRecorder.interval) }
            } catch {
                isStopping = true
            }
            let peers = replicator.status().peers
            guard PeerRecorder.differ(peers, written) else { continue }
            do {
                try await Blocking.run { [replica] in try PeerRecorder.record(peers, in: replica) }
                written = peers
            } catch {
                // A file that another process keeps locked: the next round writes the same and more.
                logger.debug("the peers were not written down", metadata: ["error": "\(error)"])
            }
        }
    }

    /// The time of the last contact alone is not worth a write.
    private static func differ(_ a: [PeerStatus], _ b: [PeerStatus]) -> Bool {
        let essence = { (peers: [PeerStatus]) in
            peers.map { peer in
                var peer = peer
                peer.lastContactMilliseconds = nil
                peer.failures = 0
                return peer
            }
        }
        return essence(a) != essence(b)
    }

    static func record(_ peers: [PeerStatus], in replica: Replica) throws {
        try replica.write { db in
            let origins = try JournalReader(db).origins
            for peer in peers {
                try db.execute(
                    sql: """
                        INSERT INTO _journal_peers (url, origin, confirmed, last_contact, last_error)
                        VALUES (?, ?, ?, ?, ?)
                        ON CONFLICT (url) DO UPDATE SET
                          origin = coalesce(excluded.origin, origin), confirmed = excluded.confirmed,
                          last_contact = coalesce(excluded.last_contact, last_contact), last_error = excluded.last_error
                        """,
                    arguments: [
                        peer.name, peer.origin.map { Data($0.bytes) }, origins.encode(peer.vector),
                        peer.lastContactMilliseconds.map { Double($0) / 1_000 }, peer.lastError?.message,
                    ])
            }
        }
    }
}

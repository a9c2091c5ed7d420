import GRDB
import Journal
import Sync

/// Counts the changes of other replicas that reach a file during an exchange, for the ``ProgressLine``.
actor Arrivals {
    private let replica: Replica
    private var seq: Int64
    private var changes: Int64 = 0

    init(_ replica: Replica) throws {
        self.replica = replica
        seq = try replica.read(JournalReader.lastSeq)
    }

    /// `3 503 changes received`
    func text() async -> String {
        // A file that cannot be read at this moment is read again the next time.
        if let news = try? await blocking({ [replica, seq] in try Arrivals.news(in: replica, after: seq) }) {
            self.seq = news.seq
            changes += news.changes
        }
        return ConsoleText.count(changes, "change") + " received"
    }

    private static func news(in replica: Replica, after seq: Int64) throws -> (seq: Int64, changes: Int64) {
        try replica.read { db in
            let row = try Row.fetchOne(
                db, sql: "SELECT coalesce(max(seq), ?1), count(origin) FROM _journal WHERE seq > ?1", arguments: [seq])
            guard let row else { return (seq: seq, changes: 0) }
            return (seq: row[0], changes: row[1])
        }
    }
}

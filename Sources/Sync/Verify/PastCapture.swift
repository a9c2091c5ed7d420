import GRDB
import Journal

/// Takes what programs wrote past capture, in the rows in which a comparison has found two replicas to differ.
///
/// Each side compares the rows with its own journal, so neither takes the other's word. The rows become changes of
/// their machine, and the next exchange sends them. See docs/decisions/0045-rows-past-capture.md.
struct PastCapture: Sendable {
    let inbox: Inbox
    let transport: any Transport
    let limits: Limits

    /// What came of it.
    struct Outcome: Sendable, Hashable {
        /// The rows that became changes here.
        var rows = 0
        /// True when the peer has news since.
        var isPeerAhead = false

        /// True when another comparison may have another result.
        var hasNews: Bool { rows > 0 || isPeerAhead }
    }

    /// - Parameter tables: The names of the tables that differ.
    /// - Returns: What was taken; nothing when the two do not know the same changes any more.
    /// - Throws: As ``Verification``. What was taken here before the peer was asked stays.
    func run(in tables: Set<String>) async throws -> Outcome {
        var verification = Verification(replica: inbox.replica, transport: transport, limits: limits)
        verification.tables = tables
        var found = try await verification.run()
        guard found.ours == found.theirs, found.differs else { return Outcome() }
        let asked = found
        found.tables = try await blocking { [inbox, found] in
            try inbox.replica.read { db in
                try found.tables.filter { try $0.differs && PastCapture.isIntact($0.name, db) }
            }
        }
        var outcome = Outcome()
        outcome.rows = try await blocking { [inbox, found] in
            var report = RepairReport(after: found)
            try inbox.repair(found, .keepRows, .written, into: &report)
            let rows = report.captured + report.announced
            inbox.noteRecaptured(rows)
            return rows
        }
        if outcome.rows < asked.differenceCount { outcome.isPeerAhead = try await askPeer(asked) }
        return outcome
    }

    /// True when SQLite finds no damage in a table and its indexes. A row of a damaged one is nobody's write.
    static func isIntact(_ table: String, _ db: Database) throws -> Bool {
        do {
            return try TableIntegrity.problem(in: table, db) == nil
        } catch let error as DatabaseError where ApplicationDefined.missing(error) != nil {
            // Only the table's own program can check it.
            return false
        }
    }

    /// - Returns: True when the peer has taken rows.
    private func askPeer(_ found: VerifyReport) async throws -> Bool {
        let peer = PeerDigests(replica: inbox.replica, transport: transport, limits: limits)
        var hasNews = false
        for table in found.tables where !table.differences.isEmpty {
            guard let columns = table.differences.first?.key.map(\.column) else { continue }
            let shape = TableShape(table: table.name, columns: columns, keyCount: columns.count)
            let keys = table.differences.map { $0.key.map(\.value) }
            do {
                let reply = try await peer.ask(.recapture(shape: shape, keys: keys))
                if !found.theirs.covers(reply.vector) { hasNews = true }
            } catch let error as SyncError where [.invalid, .tooLarge, .notFound].contains(error.code) {
                // An older release does not know the question.
            }
        }
        return hasNews
    }
}

extension Inbox {
    /// Logs that rows became changes of this machine.
    func noteRecaptured(_ rows: Int) {
        guard rows > 0 else { return }
        logger?.log(
            .recaptured,
            "\(rows) \(rows == 1 ? "row" : "rows") differed from the journal, as when a program writes past the triggers, and became changes of this machine; `syncd log` shows what was there before"
        )
    }
}

import GRDB
import Journal
import Sync

/// What hooks may be about, as it is at one moment.
struct HookSituation: Sendable, Hashable {
    /// The newest open entry of the ledger; 0 for none.
    var newestConflict: Int64 = 0
    var openConflicts = 0
    var held = 0
    var heldByReason: [String: Int] = [:]
    /// The tables that differ, by the peer.
    var mismatches: [String: [String]] = [:]

    init() {}

    init(_ report: StatusReport, _ db: Database) throws {
        newestConflict = try ConflictEntry.all(db, newest: 1).first?.id ?? 0
        openConflicts = report.conflicts
        held = report.held
        heldByReason = Dictionary(report.heldByReason.map { ($0.reason, $0.rows) }, uniquingKeysWith: { $1 })
        for peer in report.peers where !peer.mismatches.isEmpty { mismatches[peer.url] = peer.mismatches.map(\.table) }
    }
}

import GRDB
import Journal

/// Compares the visible rows of two replicas, table by table: digests first, then the rows of the ranges that
/// differ.
///
/// The peer divides its rows into ranges, and the same ranges are read here. Memory is bounded by one answer
/// of the peer. Each request reads its own snapshot, so rows that are written meanwhile may appear as
/// differences: verify when nobody writes.
struct Verification: Sendable {
    let replica: Replica
    let transport: any Transport
    let limits: Limits
    /// The tables to compare, by their names here; nil for all.
    var tables: Set<String>?
    /// Called at the start of each table, and after each range of rows that was compared.
    var onProgress: @Sendable (VerifyProgress) -> Void = { _ in }

    func run() async throws -> VerifyReport {
        var report = VerifyReport(peer: transport.name)
        let (pairs, ours, theirs) = try await peer.tables()
        report.ours = ours
        report.theirs = theirs
        try await addWhatIsLeftOut(to: &report)
        let reasons = Dictionary(
            report.untracked.map { (SQLText.foldedName($0.table), $0.reason) }, uniquingKeysWith: { first, _ in first })
        var progress = VerifyProgress(tables: pairs.count)
        for pair in pairs where tables?.contains(pair.name) ?? true {
            progress.enter(pair.name)
            onProgress(progress)
            var table = try await compare(pair, progress)
            if table.problem != nil, let reason = reasons[SQLText.foldedName(table.name)] {
                table.problem = "not tracked here: \(reason)"
            }
            progress.rows += table.rows
            report.tables.append(table)
        }
        return report
    }

    private func addWhatIsLeftOut(to report: inout VerifyReport) async throws {
        (report.untracked, report.heldRows) = try await blocking { [replica] in
            try replica.read { db in
                (try TableCoverage(db).untracked, try HeldEntries.counts(db).reduce(0) { $0 + $1.rows })
            }
        }
    }

    private var peer: PeerDigests { PeerDigests(replica: replica, transport: transport, limits: limits) }

    private func compare(_ pair: TablePairs.Pair, _ progress: VerifyProgress) async throws -> VerifyReport.Table {
        var table = VerifyReport.Table(name: pair.name)
        table.unmatchedColumns = pair.unmatchedColumns
        table.retypedColumns = pair.retypedColumns
        table.problem = pair.problem
        guard let shape = pair.shape else { return table }
        try await peer.forEachPage(of: shape) { page in
            for range in page.ranges {
                let own = try await digest(of: shape, after: range.after, through: range.through)
                table.rows += own.rows
                onProgress(progress.adding(rowsOfTable: table.rows))
                if own.sha256 != range.sha256 {
                    try await compareRows(of: shape, after: range.after, through: range.through, into: &table)
                }
            }
            return true
        }
        return table
    }

    /// Compares the peer's rows page by page with the rows here.
    private func compareRows(
        of shape: TableShape, after: [Value]?, through: [Value]?, into table: inout VerifyReport.Table
    ) async throws {
        var position = PagePosition(after: after, peer: transport.name)
        while true {
            let after = position.after
            let reply = try await peer.ask(.rows(shape: shape, after: after, through: through))
            guard reply.rows.allSatisfy({ $0.count == shape.columns.count }) else {
                throw SyncError(.invalid, "\(transport.name) answered with rows of another length")
            }
            if reply.more { try position.advance(to: reply.rows.last.map { Array($0.prefix(shape.keyCount)) }) }
            let end = reply.more ? position.after : through
            table = try await blocking { [replica, limits, table, after] in
                var table = table
                try replica.read { db in
                    var comparison = PageComparison(
                        shape: shape, theirs: reply.rows, rows: try TableRows(db, asked: shape), limits: limits)
                    try comparison.run(after: after, through: end, into: &table)
                }
                return table
            }
            guard reply.more else { return }
        }
    }

    private func digest(
        of shape: TableShape, after: [Value]?, through: [Value]?
    ) async throws -> (sha256: [UInt8], rows: Int) {
        try await blocking { [replica] in
            try replica.read { try TableRows($0, asked: shape).digest(after: after, through: through) }
        }
    }
}

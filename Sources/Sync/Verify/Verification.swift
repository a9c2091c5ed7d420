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
    /// Called at the start of each table, and after each range of rows that was compared.
    var onProgress: @Sendable (VerifyProgress) -> Void = { _ in }

    func run() async throws -> VerifyReport {
        var report = VerifyReport(peer: transport.name)
        let reply = try await ask(.tables)
        let (tables, vector) = try await blocking { [replica] in
            try replica.read { db in (try ComparedTables(db), try JournalReader(db).vector()) }
        }
        report.ours = vector
        report.theirs = reply.vector
        let pairs = TablePairs(here: tables, there: ComparedTables(reply))
        var progress = VerifyProgress(tables: pairs.pairs.count)
        for pair in pairs.pairs {
            progress.enter(pair.name)
            onProgress(progress)
            let table = try await compare(pair, progress)
            progress.rows += table.rows
            report.tables.append(table)
        }
        return report
    }

    private func compare(_ pair: TablePairs.Pair, _ progress: VerifyProgress) async throws -> VerifyReport.Table {
        var table = VerifyReport.Table(name: pair.name)
        table.unmatchedColumns = pair.unmatchedColumns
        table.retypedColumns = pair.retypedColumns
        table.problem = pair.problem
        guard let shape = pair.shape else { return table }
        var position = PagePosition(after: nil, peer: transport.name)
        while true {
            var after = position.after
            let reply = try await ask(.digests(shape: shape, after: after, rowsPerDigest: limits.rowsPerDigest))
            if reply.more { try position.advance(to: reply.digests.last?.last) }
            var ranges = reply.digests
            if ranges.isEmpty { ranges = [RangeDigest(last: [], rows: 0, sha256: RowDigest.ofNothing)] }
            for (index, range) in ranges.enumerated() {
                // Rows here after the peer's last one belong to its last range.
                let isOpen = !reply.more && index == ranges.count - 1
                let through = isOpen ? nil : range.last
                let (start, own) = (after, try await digest(of: shape, after: after, through: through))
                table.rows += own.rows
                onProgress(progress.adding(rowsOfTable: table.rows))
                if own.sha256 != range.sha256 {
                    try await compareRows(of: shape, after: start, through: through, into: &table)
                }
                after = range.last
            }
            if !reply.more { return table }
        }
    }

    /// Compares the peer's rows page by page with the rows here.
    private func compareRows(
        of shape: TableShape, after: [Value]?, through: [Value]?, into table: inout VerifyReport.Table
    ) async throws {
        var position = PagePosition(after: after, peer: transport.name)
        while true {
            let after = position.after
            let reply = try await ask(.rows(shape: shape, after: after, through: through))
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

    private func ask(_ question: DigestRequest.Question) async throws -> DigestReply {
        let cluster = try await blocking { [replica] in try replica.identity().cluster }
        return try await transport.digest(DigestRequest(cluster: cluster, question: question))
    }
}

extension RowDigest {
    static let ofNothing: [UInt8] = {
        var digest = RowDigest()
        return digest.finish()
    }()
}

import GRDB
import Journal

/// Compares the content of two replicas that know the same changes, by a digest of each range of rows.
///
/// Replicas with equal vectors hold equal rows. If they do not, something other than replication changed a
/// file, or replication has a fault; both must be noticed. It costs one walk through all tables on both
/// sides.
struct ContentProof: Sendable {
    let inbox: Inbox
    let transport: any Transport
    let limits: Limits

    /// Runs the comparison.
    ///
    /// - Returns: The tables that differ; nil when there is no result, because the two do not know the same
    ///   changes, or one of them was written to meanwhile.
    func run() async throws -> [ContentMismatch]? {
        guard let first = try await compare() else { return nil }
        guard !first.isEmpty else { return first }
        // A held row that a local change has freed may not have returned yet: compare again before the alarm.
        _ = try await blocking { [inbox] in try inbox.bringBackHeldRows() }
        guard let second = try await compare() else { return nil }
        let before = Set(first.map(\.table))
        return second.filter { before.contains($0.table) }
    }

    private func compare() async throws -> [ContentMismatch]? {
        let reply = try await ask(.tables)
        let (tables, vector) = try await blocking { [inbox] in
            try inbox.replica.read { db in (try ComparedTables(db), try JournalReader(db).vector()) }
        }
        guard reply.vector == vector else { return nil }
        var mismatches: [ContentMismatch] = []
        // Tables and columns that only one side has, or that the two store differently, are left out:
        // machines may have different schemas.
        for pair in TablePairs(here: tables, there: ComparedTables(reply)).pairs {
            guard let shape = pair.shape else { continue }
            guard let mismatch = try await compare(shape) else { return nil }
            if mismatch.count > 0 { mismatches.append(mismatch) }
        }
        return mismatches
    }

    private func compare(_ shape: TableShape) async throws -> ContentMismatch? {
        var mismatch = ContentMismatch(table: shape.table)
        var position = PagePosition(after: nil, peer: transport.name)
        while true {
            let after = position.after
            let reply = try await ask(.digests(shape: shape, after: after, rowsPerDigest: limits.rowsPerDigest))
            if reply.more { try position.advance(to: reply.digests.last?.last) }
            let found = try await blocking { [inbox, limits, mismatch, after] () throws -> ContentMismatch? in
                try inbox.replica.read { db in
                    guard try JournalReader(db).vector() == reply.vector else { return nil }
                    var mismatch = mismatch
                    try ContentProof.compare(
                        reply, with: TableRows(db, asked: shape), after: after, into: &mismatch, limits: limits)
                    return mismatch
                }
            }
            guard let found else { return nil }
            mismatch = found
            guard reply.more else { return mismatch }
        }
    }

    private static func compare(
        _ reply: DigestReply, with rows: TableRows, after: [Value]?, into mismatch: inout ContentMismatch,
        limits: Limits
    ) throws {
        func key(_ values: [Value]?) -> RowImage? {
            values.map { values in
                var image = RowImage()
                for (column, value) in zip(rows.shape.keyColumns, values) { image.columns[column] = value }
                return image
            }
        }
        var after = after
        var ranges = reply.digests
        if ranges.isEmpty { ranges = [RangeDigest(last: [], rows: 0, sha256: RowDigest.ofNothing)] }
        for (index, range) in ranges.enumerated() {
            // Rows here after the peer's last one belong to its last range.
            let through = !reply.more && index == ranges.count - 1 ? nil : range.last
            if try rows.digest(after: after, through: through).sha256 != range.sha256 {
                mismatch.add(.init(after: key(after), through: key(through)), limits: limits)
            }
            after = range.last
        }
    }

    private func ask(_ question: DigestRequest.Question) async throws -> DigestReply {
        let cluster = try await blocking { [inbox] in try inbox.replica.identity().cluster }
        return try await transport.digest(DigestRequest(cluster: cluster, question: question))
    }
}

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
        let peer = PeerDigests(replica: inbox.replica, transport: transport, limits: limits)
        let (pairs, ours, theirs): ([TablePairs.Pair], VersionVector, VersionVector)
        do {
            (pairs, ours, theirs) = try await peer.tables()
        } catch let error as SyncError where error.code == .notFound {
            // A hub holds no rows.
            return nil
        }
        guard ours == theirs else { return nil }
        var mismatches: [ContentMismatch] = []
        // Tables and columns that only one side has, or that the two store differently, are left out:
        // machines may have different schemas.
        for pair in pairs {
            guard let shape = pair.shape else { continue }
            guard let mismatch = try await compare(shape, with: peer) else { return nil }
            if mismatch.count > 0 { mismatches.append(mismatch) }
        }
        return mismatches
    }

    private func compare(_ shape: TableShape, with peer: PeerDigests) async throws -> ContentMismatch? {
        var mismatch: ContentMismatch? = ContentMismatch(table: shape.table)
        try await peer.forEachPage(of: shape) { page in
            mismatch = try await blocking { [inbox, limits, mismatch] in
                try inbox.replica.read { db in
                    guard try KnownVersions(db).vector == page.vector else { return nil }
                    var mismatch = mismatch
                    let rows = try TableRows(db, asked: shape)
                    for range in page.ranges
                    where try rows.digest(after: range.after, through: range.through).sha256 != range.sha256 {
                        mismatch?.add(
                            .init(after: key(range.after, of: shape), through: key(range.through, of: shape)),
                            limits: limits)
                    }
                    return mismatch
                }
            }
            return mismatch != nil
        }
        return mismatch
    }

    private func key(_ values: [Value]?, of shape: TableShape) -> RowImage? {
        values.map { values in
            var image = RowImage()
            for (column, value) in zip(shape.keyColumns, values) { image.columns[column] = value }
            return image
        }
    }
}

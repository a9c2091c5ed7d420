import GRDB
import Journal

/// Asks a peer about its tables and the digests of its rows.
struct PeerDigests: Sendable {
    let replica: Replica
    let transport: any Transport
    let limits: Limits

    /// A range of the peer's rows, with its digest; nil for an end without a bound.
    struct Range: Sendable {
        let after: [Value]?
        let through: [Value]?
        let sha256: [UInt8]
    }

    /// Some of the ranges of a table, in key order and without gaps.
    struct Page: Sendable {
        /// What the peer knew when it answered.
        let vector: VersionVector
        let ranges: [Range]
    }

    /// Pairs the peer's tables with those here.
    ///
    /// - Returns: The pairs, and what the replica here and the peer know.
    func tables() async throws -> (pairs: [TablePairs.Pair], ours: VersionVector, theirs: VersionVector) {
        let reply = try await ask(.tables)
        let (tables, vector) = try await blocking { [replica] in
            try replica.read { db in (try ComparedTables(db), try KnownVersions(db).vector) }
        }
        return (TablePairs(here: tables, there: ComparedTables(reply)).pairs, vector, reply.vector)
    }

    /// Calls `body` with the peer's ranges of a table, one page after another, until it returns false.
    func forEachPage(of shape: TableShape, _ body: (Page) async throws -> Bool) async throws {
        var position = PagePosition(after: nil, peer: transport.name)
        while true {
            var after = position.after
            let reply = try await ask(.digests(shape: shape, after: after, rowsPerDigest: limits.rowsPerDigest))
            if reply.more { try position.advance(to: reply.digests.last?.last) }
            var digests = reply.digests
            if digests.isEmpty { digests = [RangeDigest(last: [], rows: 0, sha256: RowDigest.ofNothing)] }
            var ranges: [Range] = []
            for (index, digest) in digests.enumerated() {
                // Rows here after the peer's last one belong to its last range.
                let isOpen = !reply.more && index == digests.count - 1
                ranges.append(Range(after: after, through: isOpen ? nil : digest.last, sha256: digest.sha256))
                after = digest.last
            }
            guard try await body(Page(vector: reply.vector, ranges: ranges)), reply.more else { return }
        }
    }

    /// Asks one question.
    func ask(_ question: DigestRequest.Question) async throws -> DigestReply {
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

import GRDB
import Journal

/// Answers the questions of a verification, from one snapshot.
struct TableDigests {
    private let db: Database
    private let limits: Limits

    init(_ db: Database, limits: Limits) throws {
        self.db = db
        self.limits = limits
    }

    func answer(_ question: DigestRequest.Question) throws -> DigestReply {
        var reply = DigestReply(vector: try KnownVersions(db).vector)
        switch question {
        case .tables:
            let tables = try ComparedTables(db)
            reply.tables = tables.shapes
            reply.affinities = tables.affinities
        case .digests(let shape, let after, let rowsPerDigest):
            try addDigests(of: TableRows(db, asked: shape), after: after, rowsPerDigest: rowsPerDigest, to: &reply)
        case .rows(let shape, let after, let through):
            try addRows(of: TableRows(db, asked: shape), after: after, through: through, to: &reply)
        case .recapture:
            // `Endpoint` has done it.
            break
        }
        return reply
    }

    private func addDigests(
        of rows: TableRows, after: [Value]?, rowsPerDigest: Int, to reply: inout DigestReply
    ) throws {
        var digest = RowDigest()
        var last: [Value] = []
        try rows.forEach(after: after, through: nil) { row in
            guard reply.digests.count < limits.digestsPerReply else {
                reply.more = true
                return false
            }
            digest.add(row)
            last = Array(row.prefix(rows.shape.keyCount))
            if digest.rows == rowsPerDigest {
                reply.digests.append(RangeDigest(last: last, rows: digest.rows, sha256: digest.finish()))
                digest = RowDigest()
            }
            return true
        }
        guard digest.rows > 0 else { return }
        reply.digests.append(RangeDigest(last: last, rows: digest.rows, sha256: digest.finish()))
    }

    private func addRows(
        of rows: TableRows, after: [Value]?, through: [Value]?, to reply: inout DigestReply
    ) throws {
        var bytes = 0
        try rows.forEach(after: after, through: through) { row in
            guard reply.rows.count < limits.digestsPerReply, bytes < limits.rowBytesPerReply else {
                reply.more = true
                return false
            }
            reply.rows.append(row)
            bytes += row.reduce(0) { $0 + $1.weight }
            return true
        }
    }
}

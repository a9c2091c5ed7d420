import GRDB

/// Decides where the transactions of programs end that mark none.
///
/// Store marks the last change of each transaction, and merging keeps the marks of others. The triggers do not
/// know where a transaction of another program ends. What is known: a snapshot never ends inside of one. So the
/// changes between the ends of two snapshots may be one transaction, and stay together. What nobody has seen
/// while it was written is not known to be one; when it is larger than the bounds, it is cut.
public struct TransactionEnds: Sendable {
    /// The positions at which snapshots have ended, ascending.
    public let seen: [Int64]
    /// How many changes are taken for one transaction without proof, 1 or more.
    public let changes: Int
    /// The weight (``Value/weight``) that is taken for one transaction without proof, 1 or more.
    public let bytes: Int

    /// Those of a file whose writing nobody has seen.
    package static let unseen = TransactionEnds(seen: [], changes: 10_000, bytes: .max)

    /// - Parameters:
    ///   - seen: The positions at which snapshots have ended, ascending.
    ///   - changes: How many changes are taken for one transaction without proof, 1 or more.
    ///   - bytes: The weight that is taken for one transaction without proof, 1 or more.
    public init(seen: [Int64], changes: Int, bytes: Int) {
        self.seen = seen
        self.changes = changes
        self.bytes = bytes
    }
}

/// What `_journal.tx` says of an entry.
enum TransactionMark {
    /// The writer has marked it as the last entry of its transaction: that stays whole.
    static let byWriter: Int64 = 1
    /// A transaction has ended here, and nobody has marked where it began.
    static let known: Int64 = 2

    /// Notes that no transaction is open behind a local entry. What its writer has marked stays so.
    ///
    /// - Throws: Errors of SQLite.
    static func noteEnd(at seq: Int64, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE _journal SET tx = ? WHERE seq = ? AND origin IS NULL AND tx IS NOT ?",
            arguments: [known, seq, byWriter])
    }
}

/// Finds the ends while the changes of this replica are read in journal order.
struct TransactionEndFinder {
    private let ends: TransactionEnds?
    private let lastSeq: Int64
    private let db: Database
    /// The next of ``TransactionEnds/seen``.
    private var next = 0
    private var changes = 0
    private var weight = 0
    /// The next position with a mark after the last one that was asked for; `Int64.max` when there is none.
    private var mark: Int64?

    init(_ ends: TransactionEnds?, lastSeq: Int64, _ db: Database) {
        self.ends = ends
        self.lastSeq = lastSeq
        self.db = db
    }

    /// True when the change at `seq` ends a transaction, or has to be taken for its end.
    ///
    /// - Parameter ownEnd: The end of its run when this replica wrote it; nil for changes of others.
    mutating func isEnd(at seq: Int64, isMarked: Bool, ownEnd: Int64?, weight added: Int) throws -> Bool {
        // A snapshot ends with a whole transaction, whether its writer marked the end or not.
        if isMarked || seq == lastSeq { return end() }
        guard let ends, let ownEnd else { return false }
        while next < ends.seen.count, ends.seen[next] < seq { next += 1 }
        if next < ends.seen.count, ends.seen[next] == seq { return end() }
        // Behind the first snapshot, the ends are known.
        guard next == 0 else { return false }
        changes += 1
        weight += added
        guard changes >= ends.changes || weight >= ends.bytes else { return false }
        // A mark at the end of the first snapshot belongs to what precedes it.
        guard try nextMark(after: seq) >= min(ownEnd, ends.seen.first.map { $0 + 1 } ?? .max) else { return false }
        return end()
    }

    private mutating func end() -> Bool {
        (changes, weight) = (0, 0)
        return true
    }

    /// A marked transaction stays whole: without a further look it is not known where it begins.
    private mutating func nextMark(after seq: Int64) throws -> Int64 {
        if let mark, mark > seq { return mark }
        let found = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT seq FROM _journal WHERE seq > ? AND tx = ? ORDER BY seq LIMIT 1"),
            arguments: [seq, TransactionMark.byWriter])
        mark = found ?? .max
        return mark ?? .max
    }
}

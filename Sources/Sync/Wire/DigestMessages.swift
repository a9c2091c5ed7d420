import Journal
import SwiftProtobuf

/// A question that a comparison of the content asks a peer.
public struct DigestRequest: Sendable, Hashable {
    /// The kinds of questions.
    public enum Question: Sendable, Hashable {
        /// The tracked tables.
        case tables

        /// Digests of the columns of `shape`, in the order of the shape: one digest for each `rowsPerDigest`
        /// rows in key order, starting after the key `after`.
        case digests(shape: TableShape, after: [Value]?, rowsPerDigest: Int)

        /// The rows after the key `after`, up to the key `through`.
        case rows(shape: TableShape, after: [Value]?, through: [Value]?)

        /// Rows that differ at the caller, although it knows the same changes: the replica compares those with
        /// `keys` with its own journal, and takes what programs wrote past capture as changes of its own. Only
        /// the vector of the answer is set, to what it knows then.
        case recapture(shape: TableShape, keys: [[Value]])
    }

    /// The caller's cluster, 1 to ``Limits/nameBytes`` bytes of UTF-8.
    public var cluster: String
    /// The question.
    public var question: Question

    /// - Parameters:
    ///   - cluster: The caller's cluster.
    ///   - question: The question.
    public init(cluster: String, question: Question) {
        self.cluster = cluster
        self.question = question
    }
}

/// A digest of consecutive rows.
public struct RangeDigest: Sendable, Hashable {
    /// The key of the last row.
    public var last: [Value]
    /// The number of rows, 0 or more.
    public var rows: Int
    /// 32 bytes: SHA-256 of the rows in the form that docs/PROTOCOL.md defines.
    public var sha256: [UInt8]

    /// - Parameters:
    ///   - last: The key of the last row.
    ///   - rows: The number of rows.
    ///   - sha256: 32 bytes.
    public init(last: [Value], rows: Int, sha256: [UInt8]) {
        self.last = last
        self.rows = rows
        self.sha256 = sha256
    }
}

/// The answer to a ``DigestRequest``, from one snapshot. Of ``tables``, ``digests`` and ``rows``, only the
/// requested one is set.
public struct DigestReply: Sendable, Hashable {
    /// What the replica knew in that snapshot.
    public var vector: VersionVector
    /// The tracked tables, by name.
    public var tables: [TableShape] = []

    /// For each of ``tables``, how each column stores values: raw values of `Affinity`. Empty for a peer that
    /// does not send them.
    public var affinities: [[UInt8]] = []
    /// Digests of consecutive ranges, in key order.
    public var digests: [RangeDigest] = []
    /// Rows in key order, each in the order of the requested columns.
    public var rows: [[Value]] = []

    /// True when the answer ends before the requested range: ask again, after its last key.
    public var more = false

    /// Creates an answer without tables, digests and rows.
    public init(vector: VersionVector) { self.vector = vector }
}

extension DigestRequest: WireMessage {
    /// Encodes the message of docs/tandem.proto.
    ///
    /// - Throws: ``WireError/Code/malformed`` when it cannot be written, `tooLarge` for a value of 4 GiB in a
    ///   key.
    public func encoded() throws(WireError) -> [UInt8] {
        var message = Tandem_V1_DigestRequest()
        message.wireVersion = wireVersion
        message.cluster = wireData(cluster.utf8)
        switch question {
        case .tables:
            message.tables = .init()
        case .digests(let shape, let after, let rowsPerDigest):
            var question = Tandem_V1_DigestRequest.Digests()
            let wireShape = Tandem_V1_ChangeBatch.Shape(shape)
            question.table = wireShape.table
            question.columns = wireShape.columns
            question.keyCount = wireShape.keyCount
            if let after { question.after = try Tandem_V1_Values(after) }
            question.rowsPerDigest = UInt32(clamping: rowsPerDigest)
            message.digests = question
        case .rows(let shape, let after, let through):
            var question = Tandem_V1_DigestRequest.Rows()
            let wireShape = Tandem_V1_ChangeBatch.Shape(shape)
            question.table = wireShape.table
            question.columns = wireShape.columns
            question.keyCount = wireShape.keyCount
            if let after { question.after = try Tandem_V1_Values(after) }
            if let through { question.through = try Tandem_V1_Values(through) }
            message.rows = question
        case .recapture(let shape, let keys):
            var question = Tandem_V1_DigestRequest.Recapture()
            let wireShape = Tandem_V1_ChangeBatch.Shape(shape)
            question.table = wireShape.table
            question.columns = wireShape.columns
            question.keyCount = wireShape.keyCount
            question.keys = try keys.map { key throws(WireError) in try Tandem_V1_Values(key) }
            message.recapture = question
        }
        return try serialize(message)
    }

    /// Decodes the message of docs/tandem.proto from untrusted bytes. The number of rows per digest is
    /// clamped to 1...64 times ``Limits/rowsPerDigest``.
    ///
    /// - Throws: ``WireError``: `tooLarge` beyond the limits, `unsupportedVersion` for another version of the
    ///   protocol, `malformed` for anything else that is not such a message.
    public init(decoding bytes: [UInt8], limits: Limits) throws(WireError) {
        let message = try parse(Tandem_V1_DigestRequest.self, bytes, limits: limits)
        try checkWireVersion(message.wireVersion)
        let cluster = try wireName(message.cluster, limits: limits)
        switch message.question {
        case .tables:
            self.init(cluster: cluster, question: .tables)
        case .digests(let question):
            let shape = try TableShape(question.table, question.columns, question.keyCount, limits: limits)
            let after = question.hasAfter ? try question.after.key(of: shape) : nil
            self.init(
                cluster: cluster,
                question: .digests(
                    shape: shape, after: after,
                    rowsPerDigest: min(max(Int(question.rowsPerDigest), 1), limits.rowsPerDigest * 64)))
        case .rows(let question):
            let shape = try TableShape(question.table, question.columns, question.keyCount, limits: limits)
            let after = question.hasAfter ? try question.after.key(of: shape) : nil
            let through = question.hasThrough ? try question.through.key(of: shape) : nil
            self.init(cluster: cluster, question: .rows(shape: shape, after: after, through: through))
        case .recapture(let question):
            let shape = try TableShape(question.table, question.columns, question.keyCount, limits: limits)
            guard question.keys.count <= limits.listedDifferences else {
                throw .tooLarge("the keys of a digest request")
            }
            let keys = try question.keys.map { key throws(WireError) in try key.key(of: shape) }
            self.init(cluster: cluster, question: .recapture(shape: shape, keys: keys))
        case nil:
            throw .malformed("a digest request without a question")
        }
    }
}

extension DigestReply: WireMessage {
    /// Encodes the message of docs/tandem.proto.
    ///
    /// - Throws: ``WireError/Code/malformed`` when it cannot be written, `tooLarge` for a value of 4 GiB.
    public func encoded() throws(WireError) -> [UInt8] {
        var message = Tandem_V1_DigestReply()
        message.wireVersion = wireVersion
        message.vector = Tandem_V1_Vector(vector)
        message.tables = tables.map { Tandem_V1_ChangeBatch.Shape($0) }
        message.affinities = affinities.map { wireData($0) }
        message.digests = try digests.map { digest throws(WireError) in
            var entry = Tandem_V1_RangeDigest()
            entry.last = try Tandem_V1_Values(digest.last)
            entry.rows = UInt64(clamping: digest.rows)
            entry.sha256 = wireData(digest.sha256)
            return entry
        }
        message.rows = try rows.map { row throws(WireError) in try Tandem_V1_Values(row) }
        message.more = more
        return try serialize(message)
    }

    /// Decodes the message of docs/tandem.proto from untrusted bytes.
    ///
    /// - Throws: ``WireError``: `tooLarge` beyond the limits, `unsupportedVersion` for another version of the
    ///   protocol, `malformed` for anything else that is not such a message.
    public init(decoding bytes: [UInt8], limits: Limits) throws(WireError) {
        let message = try parse(Tandem_V1_DigestReply.self, bytes, limits: limits)
        try checkWireVersion(message.wireVersion)
        guard message.tables.count <= limits.shapesPerBatch, message.digests.count <= limits.digestsPerReply,
            message.rows.count <= limits.digestsPerReply
        else { throw .tooLarge("a digest reply") }
        self.init(vector: try VersionVector(message.vector, limits: limits))
        tables = try message.tables.map { shape throws(WireError) in try TableShape(shape, limits: limits) }
        affinities = message.affinities.map { [UInt8]($0) }
        guard affinities.isEmpty || affinities.map(\.count) == tables.map(\.columns.count) else {
            throw .malformed("types of other columns than those of the tables")
        }
        digests = try message.digests.map { digest throws(WireError) in
            guard digest.sha256.count == 32 else { throw .malformed("a digest of another length") }
            return RangeDigest(
                last: try digest.last.values(), rows: Int(clamping: digest.rows), sha256: [UInt8](digest.sha256))
        }
        rows = try message.rows.map { row throws(WireError) in try row.values() }
        more = message.more
    }
}

extension Tandem_V1_Values {
    init(_ values: some Sequence<Value>) throws(WireError) {
        var columns = ValueColumns()
        try columns.append(contentsOf: values)
        self.init()
        types = wireData(columns.types)
        integers = columns.integers
        reals = columns.reals
        lengths = columns.lengths
        content = wireData(columns.content)
    }

    func values() throws(WireError) -> [Value] {
        var columns = ValueColumns()
        columns.types = [UInt8](types)
        columns.integers = integers
        columns.reals = reals
        columns.lengths = lengths
        columns.content = [UInt8](content)
        return try columns.values()
    }

    /// The values, which must be as many as the key of `shape` has columns.
    fileprivate func key(of shape: TableShape) throws(WireError) -> [Value] {
        let values = try values()
        guard values.count == shape.keyCount else { throw .malformed("a key of another length") }
        return values
    }
}

extension TableShape {
    fileprivate init(
        _ table: some Collection<UInt8>, _ columns: [some Collection<UInt8>], _ keyCount: UInt32, limits: Limits
    ) throws(WireError) {
        var message = Tandem_V1_ChangeBatch.Shape()
        message.table = wireData(table)
        message.columns = columns.map { wireData($0) }
        message.keyCount = keyCount
        try self.init(message, limits: limits)
    }
}

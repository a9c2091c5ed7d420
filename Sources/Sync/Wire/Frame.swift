import Journal

/// The version of the protocol that this program speaks. docs/PROTOCOL.md says when it rises.
public let wireVersion: UInt32 = 3

/// The oldest version of frames that this program reads.
let oldestFrameVersion: UInt32 = 2

/// Consecutive versions of one origin that a frame holds.
public struct Cover: Sendable, Hashable {
    /// The replica that wrote them.
    public var origin: OriginID
    /// 1 or more.
    public var first: Int64

    /// `first` or more.
    public var last: Int64

    /// - Parameters:
    ///   - origin: The replica that wrote them.
    ///   - first: 1 or more.
    ///   - last: `first` or more.
    public init(origin: OriginID, first: Int64, last: Int64) {
        self.origin = origin
        self.first = first
        self.last = last
    }
}

/// One frame of a stream, which is the answer to a pull or the body of a push.
///
/// The stream of a push begins with ``Body/open(cluster:origin:)``. Every stream holds batches and ends with
/// ``Body/end(vector:more:heldBack:)``. On the wire, all numbers are big-endian:
///
///     4 bytes  "TDM1"
///     4 bytes  size of the header
///     4 bytes  size of the payload
///     header   FrameHeader of docs/tandem.proto
///     payload  the encoded batch, perhaps compressed; empty otherwise
///     4 bytes  CRC-32 of all of the above
public struct Frame: Sendable, Hashable {
    /// What the frame is in its stream.
    public enum Body: Sendable, Hashable {
        /// The beginning of a push: the sender's cluster and origin.
        case open(cluster: String, origin: OriginID)

        /// Changes. `rawSize` is the size of the payload in bytes once it is decompressed.
        case batch(covers: [Cover], encoding: PayloadEncoding, rawSize: Int)

        /// The end of the stream: what the sender knows, whether it has more than it sent, and what it
        /// defers.
        case end(vector: VersionVector, more: Bool, heldBack: VersionVector = VersionVector())
    }

    /// What the frame is in its stream.
    public var body: Body
    /// The encoded batch as it travels, perhaps compressed; empty for a frame without changes.
    public var payload: [UInt8]

    /// - Parameters:
    ///   - body: What the frame is in its stream.
    ///   - payload: The encoded batch as it travels; empty for a frame without changes.
    public init(body: Body, payload: [UInt8] = []) {
        self.body = body
        self.payload = payload
    }

    /// Creates a frame with the changes of `batch`.
    ///
    /// - Parameters:
    ///   - batch: The batch, which becomes the payload.
    ///   - encoding: How to compress the payload. A payload that compression does not shrink travels
    ///     uncompressed.
    /// - Throws: ``WireError``: `malformed` when the batch breaks an invariant, or there is no memory to
    ///   compress it; `tooLarge` for a value of 4 GiB.
    public init(_ batch: ChangeBatch, encoding: PayloadEncoding) throws(WireError) {
        let raw = try BatchCodec.encode(batch)
        var payload = try encoding.compress(raw)
        var used = encoding
        if payload.count >= raw.count {
            payload = raw
            used = .none
        }
        self.init(
            body: .batch(covers: Frame.covers(of: batch), encoding: used, rawSize: raw.count), payload: payload)
    }

    /// Decodes the changes of a frame whose body is a batch.
    ///
    /// - Throws: ``WireError``, also when the changes are not those that the frame's covers announce.
    public func batch(limits: Limits) throws(WireError) -> ChangeBatch {
        guard case .batch(let covers, let encoding, let rawSize) = body else {
            throw .malformed("a frame without changes")
        }
        let raw = try encoding.decompress(payload, limit: min(rawSize, limits.rawBatchBytes), limits: limits)
        guard raw.count == rawSize else { throw .malformed("the size of the batch is not the announced one") }
        let batch = try BatchCodec.decode(raw, limits: limits)
        guard Frame.covers(of: batch) == covers else { throw .malformed("other changes than the announced ones") }
        return batch
    }

    /// True when `known` covers everything in the frame, so that its payload need not be read.
    public func isKnown(to known: VersionVector) -> Bool {
        guard case .batch(let covers, _, _) = body else { return false }
        return covers.allSatisfy { known[$0.origin] >= $0.last }
    }

    /// The versions in the runs of `batch`. Runs that continue one another form one range.
    static func covers(of batch: ChangeBatch) -> [Cover] {
        var covers: [Cover] = []
        var latest: [OriginID: Int] = [:]
        for run in batch.runs {
            if let index = latest[run.origin], covers[index].last == run.firstVersion - 1 {
                covers[index].last = run.lastVersion
            } else {
                latest[run.origin] = covers.count
                covers.append(Cover(origin: run.origin, first: run.firstVersion, last: run.lastVersion))
            }
        }
        return covers
    }
}

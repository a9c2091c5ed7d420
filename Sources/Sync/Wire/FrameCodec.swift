import Journal
import SwiftProtobuf

extension Frame {
    static let magic: [UInt8] = Array("TDM1".utf8)

    /// The size of the magic bytes and the two sizes.
    static let prefixBytes = 12
    static let checksumBytes = 4

    /// Encodes the frame as it travels.
    ///
    /// - Throws: ``WireError``: `tooLarge` for a payload of 4 GiB, `malformed` when the header cannot be
    ///   written.
    public func encoded() throws(WireError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(payload.count + 1_024)
        try encode(into: &bytes)
        return bytes
    }

    /// As ``encoded()``, behind what `bytes` holds.
    func encode(into bytes: inout [UInt8]) throws(WireError) {
        let header: [UInt8]
        do {
            header = try Tandem_V1_FrameHeader(body).serializedBytes()
        } catch {
            throw .malformed("the header cannot be written")
        }
        guard let headerSize = UInt32(exactly: header.count), let payloadSize = UInt32(exactly: payload.count) else {
            throw .tooLarge("a frame of 4 GiB")
        }
        let start = bytes.count
        bytes += Frame.magic
        bytes.append(bigEndian: headerSize)
        bytes.append(bigEndian: payloadSize)
        bytes += header
        bytes += payload
        let checksum = bytes.withUnsafeBytes { CRC32.of(UnsafeRawBufferPointer(rebasing: $0[start...])) }
        bytes.append(bigEndian: checksum)
    }
}

extension Frame.Body {
    /// Checks one frame and decodes its header.
    ///
    /// - Parameters:
    ///   - bytes: Exactly one frame, whose sizes were read before.
    ///   - headerSize: The size of the header, which lies within `bytes`.
    init(_ bytes: ArraySlice<UInt8>, headerSize: Int, limits: Limits) throws(WireError) {
        let content = bytes.dropLast(Frame.checksumBytes)
        guard content.withUnsafeBytes(CRC32.of) == UInt32(bigEndian: bytes.suffix(Frame.checksumBytes)) else {
            throw WireError(.checksum, "the checksum of a frame does not match")
        }
        let header = content.dropFirst(Frame.prefixBytes).prefix(headerSize)
        let message: Tandem_V1_FrameHeader
        do {
            message = try Tandem_V1_FrameHeader(serializedBytes: Array(header), options: wireDecodingOptions)
        } catch {
            throw .malformed("not a frame header")
        }
        try self.init(message, limits: limits)
        if case .batch = self { return }
        guard content.count == Frame.prefixBytes + headerSize else {
            throw .malformed("a payload where none belongs")
        }
    }
}

extension Frame.Body {
    fileprivate init(_ message: Tandem_V1_FrameHeader, limits: Limits) throws(WireError) {
        try checkFrameVersion(message.wireVersion)
        switch message.body {
        case .open(let open):
            self = .open(
                cluster: try wireName(open.cluster, limits: limits), origin: try OriginID(wire: open.origin))
        case .batch(let batch):
            guard let encoding = PayloadEncoding(batch.encoding) else { throw .malformed("an unknown encoding") }
            guard let size = Int(exactly: batch.rawSize), size <= limits.rawBatchBytes else {
                throw .tooLarge("a batch of \(batch.rawSize) bytes")
            }
            guard batch.covers.count <= limits.receivedChangesPerBatch else {
                throw .tooLarge("\(batch.covers.count) ranges in a frame")
            }
            let covers = try batch.covers.map { cover throws(WireError) in
                guard cover.first > 0, cover.first <= cover.last, cover.last <= limits.versions else {
                    throw .malformed("a range of versions out of range")
                }
                return Cover(origin: try OriginID(wire: cover.origin), first: cover.first, last: cover.last)
            }
            self = .batch(covers: covers, encoding: encoding, rawSize: size)
        case .end(let end):
            self = .end(
                vector: try VersionVector(end.vector, limits: limits), more: end.more,
                heldBack: try VersionVector(end.heldBack, limits: limits))
        case nil:
            throw .malformed("a frame without a body")
        }
    }
}

extension Tandem_V1_FrameHeader {
    fileprivate init(_ body: Frame.Body) {
        wireVersion = Sync.wireVersion
        switch body {
        case .open(let cluster, let origin):
            open.cluster = wireData(cluster.utf8)
            open.origin = wireData(origin.bytes)
        case .batch(let covers, let encoding, let rawSize):
            batch.covers = covers.map { cover in
                var message = Tandem_V1_Cover()
                message.origin = wireData(cover.origin.bytes)
                message.first = cover.first
                message.last = cover.last
                return message
            }
            batch.encoding = Tandem_V1_Encoding(encoding)
            batch.rawSize = UInt64(clamping: rawSize)
        case .end(let vector, let more, let heldBack):
            end.vector = Tandem_V1_Vector(vector)
            end.more = more
            if !heldBack.isEmpty { end.heldBack = Tandem_V1_Vector(heldBack) }
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian number: UInt32) {
        for shift in [24, 16, 8, 0] as [UInt32] { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
}

extension UInt32 {
    /// The number in `bytes`, which are four.
    init(bigEndian bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }
}

import Journal
import SwiftProtobuf

/// A message that is the whole body of a request or an answer.
public protocol WireMessage: Sendable {
    /// Encodes the message.
    ///
    /// - Throws: ``WireError/Code/malformed`` when it cannot be written.
    func encoded() throws(WireError) -> [UInt8]

    /// Decodes untrusted bytes, in bounded memory.
    ///
    /// - Throws: ``WireError`` for bytes that are not such a message.
    init(decoding bytes: [UInt8], limits: Limits) throws(WireError)
}

extension Hello: WireMessage {
    /// Encodes the message of docs/tandem.proto.
    ///
    /// - Throws: ``WireError/Code/malformed`` when it cannot be written.
    public func encoded() throws(WireError) -> [UInt8] {
        var message = Tandem_V1_Hello()
        message.wireVersion = wireVersion
        message.cluster = wireData(cluster.utf8)
        message.origin = wireData(origin.bytes)
        message.formatVersion = Int32(clamping: formatVersion)
        message.vector = Tandem_V1_Vector(vector)
        message.wallClockMs = wallMilliseconds
        message.encodings = encodings.map { Tandem_V1_Encoding($0) }
        if let sampledOrigin { message.sampledOrigin = wireData(sampledOrigin.bytes) }
        message.sampleVersions = samples.map(\.version)
        message.sampleDigests = samples.map(\.digest)
        message.instance = wireData(instance)
        message.acknowledgements = acknowledgements.map { Tandem_V1_Acknowledgement($0, in: vector) }
        if !horizon.isEmpty { message.horizon = Tandem_V1_Vector(horizon) }
        if !refused.isEmpty { message.refused = Tandem_V1_Vector(refused) }
        message.finished = finished.map { wireData($0.bytes) }
        return try serialize(message)
    }

    /// Decodes the message of docs/tandem.proto from untrusted bytes.
    ///
    /// - Throws: ``WireError``: `tooLarge` beyond the limits, `unsupportedVersion` for another version of the
    ///   protocol, `malformed` for anything else that is not such a message.
    public init(decoding bytes: [UInt8], limits: Limits) throws(WireError) {
        let message = try parse(Tandem_V1_Hello.self, bytes, limits: limits)
        try checkWireVersion(message.wireVersion)
        self.init(
            cluster: try wireName(message.cluster, limits: limits), origin: try OriginID(wire: message.origin),
            formatVersion: Int(message.formatVersion), vector: try VersionVector(message.vector, limits: limits),
            wallMilliseconds: message.wallClockMs, encodings: message.encodings.compactMap { PayloadEncoding($0) })
        if !message.sampledOrigin.isEmpty { sampledOrigin = try OriginID(wire: message.sampledOrigin) }
        samples = try Hello.samples(message, limits: limits)
        guard message.instance.count <= 16 else { throw .malformed("an instance of more than 16 bytes") }
        instance = [UInt8](message.instance)
        guard message.acknowledgements.count <= limits.acknowledgementsPerHello else {
            throw .tooLarge("the acknowledgements of a hello")
        }
        for acknowledgement in message.acknowledgements {
            acknowledgements.append(try Acknowledgement(acknowledgement, in: vector, limits: limits))
        }
        horizon = try VersionVector(message.horizon, limits: limits)
        refused = try VersionVector(message.refused, limits: limits)
        guard message.finished.count <= limits.acknowledgementsPerHello else {
            throw .tooLarge("the finished names of a hello")
        }
        for name in message.finished { finished.append(try OriginID(wire: name)) }
    }

    private static func samples(_ message: Tandem_V1_Hello, limits: Limits) throws(WireError) -> [VersionSample] {
        guard message.sampleVersions.count <= limits.samplesPerHello else { throw .tooLarge("the samples of a hello") }
        guard message.sampleVersions.count == message.sampleDigests.count else {
            throw .malformed("samples without a digest each")
        }
        var samples: [VersionSample] = []
        for (version, digest) in zip(message.sampleVersions, message.sampleDigests) {
            guard (1...limits.versions).contains(version), samples.last.map({ $0.version > version }) ?? true
            else { throw .malformed("samples of impossible versions") }
            samples.append(VersionSample(version: version, digest: digest))
        }
        return samples
    }
}

extension PullRequest: WireMessage {
    /// Encodes the message of docs/tandem.proto.
    ///
    /// - Throws: ``WireError/Code/malformed`` when it cannot be written.
    public func encoded() throws(WireError) -> [UInt8] {
        var message = Tandem_V1_PullRequest()
        message.wireVersion = wireVersion
        message.cluster = wireData(cluster.utf8)
        message.origin = wireData(origin.bytes)
        message.have = Tandem_V1_Vector(have)
        message.waitSeconds = UInt32(clamping: waitSeconds)
        message.maxBytes = UInt64(clamping: maxBytes)
        message.encodings = encodings.map { Tandem_V1_Encoding($0) }
        message.tables = scope?.tables.map { wireData($0.utf8) } ?? []
        return try serialize(message)
    }

    /// Decodes the message of docs/tandem.proto from untrusted bytes. The requested time and size are clamped
    /// to ``Limits/longPollSeconds`` and ``Limits/bytesPerPull``.
    ///
    /// - Throws: ``WireError``: `tooLarge` beyond the limits, `unsupportedVersion` for another version of the
    ///   protocol, `malformed` for anything else that is not such a message.
    public init(decoding bytes: [UInt8], limits: Limits) throws(WireError) {
        let message = try parse(Tandem_V1_PullRequest.self, bytes, limits: limits)
        try checkWireVersion(message.wireVersion)
        guard message.tables.count <= limits.shapesPerFile else { throw .tooLarge("the tables of a request") }
        let tables = try message.tables.map { name throws(WireError) in try wireName(name, limits: limits) }
        self.init(
            cluster: try wireName(message.cluster, limits: limits), origin: try OriginID(wire: message.origin),
            have: try VersionVector(message.have, limits: limits),
            waitSeconds: min(Int(message.waitSeconds), limits.longPollSeconds),
            maxBytes: min(Int(clamping: message.maxBytes), limits.bytesPerPull),
            encodings: message.encodings.compactMap { PayloadEncoding($0) }, scope: TableScope(tables))
    }
}

extension PushReply: WireMessage {
    /// A piece of an answer that goes on. Whatever follows is merged with it to one message.
    ///
    /// - Parameter bytes: About as many bytes it has.
    static func waiting(bytes: Int) throws(WireError) -> [UInt8] {
        var message = Tandem_V1_PushReply()
        message.waiting = wireData([UInt8](repeating: 0, count: bytes))
        return try serialize(message)
    }

    /// Encodes the message of docs/tandem.proto.
    ///
    /// - Throws: ``WireError/Code/malformed`` when it cannot be written.
    public func encoded() throws(WireError) -> [UInt8] {
        var message = Tandem_V1_PushReply()
        message.wireVersion = wireVersion
        message.vector = Tandem_V1_Vector(vector)
        message.applied = UInt64(clamping: applied)
        if !heldBack.isEmpty { message.heldBack = Tandem_V1_Vector(heldBack) }
        if let refusal {
            message.refusal.status = UInt32(clamping: refusal.status)
            message.refusal.body = wireData(refusal.body)
            message.refusal.retryAfterSeconds = UInt32(clamping: refusal.retryAfterSeconds ?? 0)
        }
        return try serialize(message)
    }

    /// Decodes the message of docs/tandem.proto from untrusted bytes.
    ///
    /// - Throws: ``WireError``: `tooLarge` beyond the limits, `unsupportedVersion` for another version of the
    ///   protocol, `malformed` for anything else that is not such a message.
    public init(decoding bytes: [UInt8], limits: Limits) throws(WireError) {
        let message = try parse(Tandem_V1_PushReply.self, bytes, limits: limits)
        try checkWireVersion(message.wireVersion)
        self.init(
            vector: try VersionVector(message.vector, limits: limits), applied: Int(clamping: message.applied),
            heldBack: try VersionVector(message.heldBack, limits: limits))
        guard message.hasRefusal else { return }
        let refusal = message.refusal
        self.refusal = Refusal(
            status: Int(refusal.status), body: [UInt8](refusal.body),
            retryAfterSeconds: refusal.retryAfterSeconds > 0 ? Int64(refusal.retryAfterSeconds) : nil)
    }
}

// MARK: Parts of messages

func serialize(_ message: some Message) throws(WireError) -> [UInt8] {
    do {
        return try message.serializedBytes()
    } catch {
        throw .malformed("the message cannot be written")
    }
}

func parse<M: Message>(_ type: M.Type, _ bytes: [UInt8], limits: Limits) throws(WireError) -> M {
    guard bytes.count <= limits.messageBytes else { throw .tooLarge("a message of \(bytes.count) bytes") }
    do {
        return try M(serializedBytes: bytes, options: wireDecodingOptions)
    } catch {
        throw .malformed("not a message of the protocol")
    }
}

func checkWireVersion(_ version: UInt32) throws(WireError) {
    guard version == wireVersion else {
        throw WireError(.unsupportedVersion, "it speaks \(version), this program \(wireVersion)")
    }
}

/// Frames are kept in archives, so those of earlier releases are read: fields are only added.
func checkFrameVersion(_ version: UInt32) throws(WireError) {
    guard !(oldestFrameVersion..<wireVersion).contains(version) else { return }
    try checkWireVersion(version)
}

extension OriginID {
    init(wire bytes: some Collection<UInt8>) throws(WireError) {
        guard let origin = OriginID(bytes: bytes) else { throw .malformed("an origin is not 16 valid bytes") }
        self = origin
    }
}

extension VersionVector {
    init(_ message: Tandem_V1_Vector, limits: Limits) throws(WireError) {
        guard message.entries.count <= limits.originsPerVector else {
            throw .tooLarge("\(message.entries.count) origins in a vector")
        }
        self.init()
        var previous: OriginID?
        for entry in message.entries {
            let origin = try OriginID(wire: entry.origin)
            if let previous, previous >= origin { throw .malformed("the origins of a vector are not ascending") }
            previous = origin
            guard entry.version > 0, entry.version <= limits.versions else {
                throw .malformed("a version out of range")
            }
            advance(origin, to: entry.version)
        }
    }
}

extension Tandem_V1_Vector {
    init(_ vector: VersionVector) {
        entries = vector.entries.map { entry in
            var message = Entry()
            message.origin = wireData(entry.origin.bytes)
            message.version = entry.version
            return message
        }
    }
}

extension PayloadEncoding {
    init?(_ encoding: Tandem_V1_Encoding) {
        switch encoding {
        case .none: self = .none
        case .gzip: self = .gzip
        case .zstd: self = .zstd
        case .unspecified, .UNRECOGNIZED: return nil
        }
    }
}

extension Tandem_V1_Encoding {
    init(_ encoding: PayloadEncoding) {
        switch encoding {
        case .none: self = .none
        case .gzip: self = .gzip
        case .zstd: self = .zstd
        }
    }
}

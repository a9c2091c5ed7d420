import Journal

extension Tandem_V1_Acknowledgement {
    /// - Parameter vector: The vector of the hello, whose origins the versions follow. What the replica has of
    ///   other origins is left out, which makes it seem to have less.
    init(_ acknowledgement: Acknowledgement, in vector: VersionVector) {
        origin = wireData(acknowledgement.origin.bytes)
        versions = vector.entries.map { acknowledgement.vector[$0.origin] }
        timeMs = acknowledgement.milliseconds
        witness = wireData(acknowledgement.witness.bytes)
    }
}

extension Acknowledgement {
    /// Decodes the message of docs/tandem.proto from untrusted bytes.
    ///
    /// - Throws: ``WireError/Code/malformed``.
    init(_ message: Tandem_V1_Acknowledgement, in vector: VersionVector, limits: Limits) throws(WireError) {
        guard message.versions.count == vector.entries.count else {
            throw .malformed("an acknowledgement of other origins than the vector")
        }
        var known = VersionVector()
        for (entry, version) in zip(vector.entries, message.versions) {
            guard (0...limits.versions).contains(version) else { throw .malformed("a version out of range") }
            known.advance(entry.origin, to: version)
        }
        self.init(
            origin: try OriginID(wire: message.origin), vector: known, milliseconds: max(0, message.timeMs),
            witness: try OriginID(wire: message.witness))
    }
}

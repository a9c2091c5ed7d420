import Journal

/// What a replica has merged and shows: every change that it writes after this was written by someone who had
/// seen it. See docs/decisions/0039-compaction.md.
public struct Acknowledgement: Sendable, Hashable {
    /// The replica.
    public var origin: OriginID
    /// What it has seen. Its own entry says how many changes it had written by then.
    public var vector: VersionVector
    /// When it was last met, in milliseconds since 1970, by the clock of ``witness``.
    public var milliseconds: Int64
    /// The replica that met it.
    public var witness: OriginID

    /// - Parameters:
    ///   - origin: The replica.
    ///   - vector: What it has seen, its own changes included.
    ///   - milliseconds: When it was last met, since 1970.
    ///   - witness: The replica that met it.
    public init(origin: OriginID, vector: VersionVector, milliseconds: Int64, witness: OriginID) {
        self.origin = origin
        self.vector = vector
        self.milliseconds = milliseconds
        self.witness = witness
    }

    /// How many changes the replica had written.
    var head: Int64 { vector[origin] }
}

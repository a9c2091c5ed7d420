import Journal

/// What a replica told an archive: what it has merged and shows, what it refuses for ever, and what it has heard of
/// replicas that tell the archive nothing.
struct ArchivedAcknowledgement: Sendable, Hashable, Codable {
    /// As ``Acknowledgement``.
    struct Stored: Sendable, Hashable, Codable {
        var origin: StoredOrigin
        var vector: StoredVector
        @StoredTime var milliseconds: Int64
        var witness: StoredOrigin

        init(_ acknowledgement: Acknowledgement) {
            origin = StoredOrigin(acknowledgement.origin)
            vector = StoredVector(acknowledgement.vector)
            milliseconds = acknowledgement.milliseconds
            witness = StoredOrigin(acknowledgement.witness)
        }

        var acknowledgement: Acknowledgement {
            Acknowledgement(
                origin: origin.origin, vector: vector.vector, milliseconds: milliseconds, witness: witness.origin)
        }
    }

    /// That of the replica itself. Its members are those of the object.
    var own: Stored
    /// What it refuses for ever, and what is compacted there; nil for nothing, and from an older release.
    var refused: StoredVector?
    var horizon: StoredVector?
    /// nil for nothing, and from an older release.
    var heard: [Stored]?

    private enum CodingKeys: String, CodingKey { case refused, horizon, heard }

    init(_ acknowledgement: Acknowledgement, refused: RefusedChanges? = nil, heard: [Acknowledgement] = []) {
        own = Stored(acknowledgement)
        self.refused = refused.map { StoredVector($0.first) }
        horizon = refused.map { StoredVector($0.horizon) }
        self.heard = heard.isEmpty ? nil : heard.map(Stored.init)
    }

    init(from decoder: any Decoder) throws {
        own = try Stored(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        refused = try container.decodeIfPresent(StoredVector.self, forKey: .refused)
        horizon = try container.decodeIfPresent(StoredVector.self, forKey: .horizon)
        heard = try container.decodeIfPresent([Stored].self, forKey: .heard)
    }

    func encode(to encoder: any Encoder) throws {
        try own.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(refused, forKey: .refused)
        try container.encodeIfPresent(horizon, forKey: .horizon)
        try container.encodeIfPresent(heard, forKey: .heard)
    }

    var acknowledgement: Acknowledgement { own.acknowledgement }

    /// True when this tells more than `other` does, or something else; false for what only says that replicas are alive.
    func isNews(after other: ArchivedAcknowledgement) -> Bool {
        guard own.vector == other.own.vector, refused == other.refused, horizon == other.horizon else { return true }
        let before = Dictionary((other.heard ?? []).map { ($0.origin, $0.vector.vector) }, uniquingKeysWith: { $1 })
        return (heard ?? []).contains { !(before[$0.origin]?.covers($0.vector.vector) ?? false) }
    }

    var refusedChanges: RefusedChanges? {
        guard let refused, let horizon else { return nil }
        return RefusedChanges(first: refused.vector, horizon: horizon.vector)
    }
}

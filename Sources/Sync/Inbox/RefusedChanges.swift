import GRDB
import Journal

/// What a replica refuses for ever: changes whose writers had not seen what is compacted there. The content of a replica
/// that has merged them, and lacks nothing that is compacted there, brings them; see ``Return``.
struct RefusedChanges: Sendable, Hashable {
    /// The first version of each origin that is refused.
    let first: VersionVector
    /// What is compacted at the replica.
    let horizon: VersionVector

    init(first: VersionVector, horizon: VersionVector) {
        self.first = first
        self.horizon = horizon
    }

    /// - Returns: nil for a replica that refuses nothing for ever.
    /// - Throws: ``JournalError/Code/corrupt`` when the tables of the journal are damaged.
    init?(_ db: Database) throws {
        first = try DeferredOrigins(db).refused
        guard !first.isEmpty else { return nil }
        horizon = try Horizon(db).vector
    }

    /// What the sender of a hello refuses.
    ///
    /// - Returns: nil for nothing.
    init?(_ hello: Hello) {
        guard !hello.refused.isEmpty else { return nil }
        self.init(first: hello.refused, horizon: hello.horizon)
    }

    /// True when a replica that has merged `vector` has something that is refused.
    func isPart(of vector: VersionVector) -> Bool { first.entries.contains { vector[$0.origin] >= $0.version } }

    /// True when such a replica lacks nothing, either, that is compacted at the one that refuses.
    func isEnded(by vector: VersionVector) -> Bool { vector.covers(horizon) && isPart(of: vector) }
}

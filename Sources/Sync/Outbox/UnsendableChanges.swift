import Journal
import Synchronization

/// The changes that this process found too large for every peer.
///
/// An answer to a pull cannot become an error when it has begun. So the next request of a peer that lacks nothing else
/// is refused, with the name of the change.
final class UnsendableChanges: Sendable {
    private let refusals = Mutex<[OriginID: (version: Int64, error: SyncError)]>([:])

    /// Notes the first change of an origin that is too large.
    func note(_ version: Int64, of origin: OriginID, _ error: SyncError) {
        refusals.withLock { $0[origin] = (version, error) }
    }

    /// The error for a peer that lacks only such changes and what follows them; nil when it lacks something else, or
    /// nothing.
    ///
    /// - Parameters:
    ///   - have: What the peer has.
    ///   - vector: What this replica knows.
    func refusal(have: VersionVector, vector: VersionVector) -> SyncError? {
        let refusals = refusals.withLock { $0 }.filter { have[$0.key] == $0.value.version - 1 }
        var reachable = have
        for origin in refusals.keys { reachable.advance(origin, to: vector[origin]) }
        guard reachable.covers(vector) else { return nil }
        return refusals.min { $0.key < $1.key }?.value.error
    }
}

import Journal

/// Which of two replicas takes the content of the other one, when each lacks something that it can only get so.
///
/// It is the turn of the one with the smaller origin, as both can tell. When that one asks the other one for nothing,
/// because it follows nobody or cannot get there, the other one does not wait for it for ever; see ``Returning``.
enum ReturnTurn: Sendable {
    case here, there

    /// - Parameters:
    ///   - replica: This replica, which lacks what is compacted at the peer.
    ///   - theirs: What the peer has merged.
    ///   - peer: Its origin.
    /// - Throws: Errors of the file.
    init(_ replica: Replica, theirs: VersionVector, peer: OriginID) throws {
        self = try replica.read { db in
            try theirs.covers(Horizon(db).vector) || Identity(db).origin < peer ? .here : .there
        }
    }

    /// For a replica that refuses something for ever.
    ///
    /// - Parameters:
    ///   - replica: This replica.
    ///   - theirs: What the peer has merged.
    ///   - horizon: What is compacted there.
    ///   - isMutual: True when the peer holds something back, too.
    ///   - peer: Its origin.
    /// - Returns: nil when the peer has merged nothing that is refused here.
    /// - Throws: Errors of the file.
    init?(
        refusing replica: Replica, theirs: VersionVector, horizon: VersionVector, isMutual: Bool, peer: OriginID
    ) throws {
        let turn = try replica.read { db -> ReturnTurn? in
            guard let refused = try RefusedChanges(db), refused.isPart(of: theirs) else { return nil }
            let isSmaller = try Identity(db).origin < peer
            if refused.isEnded(by: theirs) { return !isMutual || isSmaller ? .here : .there }
            // The peer lacks what is compacted here, so it is told to come back, unless each lacks that of the other.
            return try isSmaller && !KnownVersions(db).vector.covers(horizon) ? .here : .there
        }
        guard let turn else { return nil }
        self = turn
    }
}

import Journal

/// Checks whether two replicas may exchange changes, by what each says of itself.
enum Handshake {
    /// - Parameters:
    ///   - mine: Taken after `theirs` was received, because a peer cannot know more of this replica than the
    ///     replica itself.
    ///   - peer: The name of the peer in messages.
    /// - Throws: ``SyncError/Code/otherCluster``, ``SyncError/Code/selfPeer``, ``SyncError/Code/fork``.
    static func check(mine: Hello, theirs: Hello, peer: String) throws(SyncError) {
        try check(cluster: theirs.cluster, origin: theirs.origin, mine: mine, peer: peer)
        let believed = theirs.vector[mine.origin]
        guard believed <= mine.vector[mine.origin] else {
            throw SyncError(
                .fork,
                "\(peer) knows \(believed) changes of this replica, which itself holds only \(mine.vector[mine.origin])",
                hint: "This file was restored from an older copy; it needs a new identity before it syncs again.")
        }
    }

    static func check(cluster: String, origin: OriginID, mine: Hello, peer: String) throws(SyncError) {
        try check(cluster: cluster, mine: mine, peer: peer)
        guard origin != mine.origin else {
            throw SyncError(
                .selfPeer, "\(peer) has the identity of this very replica",
                hint: "It is either its own address, or its file is a copy of this one, which needs a new identity.")
        }
    }

    static func check(cluster: String, mine: Hello, peer: String) throws(SyncError) {
        // Compared as bytes: String treats two Unicode normal forms of one name as equal.
        guard cluster.utf8.elementsEqual(mine.cluster.utf8) else {
            throw SyncError(
                .otherCluster, "\(peer) belongs to the cluster \(cluster), this replica to \(mine.cluster)",
                hint: "Replicas exchange changes only within one cluster; check the address.")
        }
    }
}

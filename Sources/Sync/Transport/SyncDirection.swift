/// Which changes a replica exchanges with a peer that it follows.
public enum SyncDirection: String, Sendable, Hashable, CaseIterable {
    /// The peer's changes come here; nothing is sent to it.
    case pull
    /// The changes of this replica go to the peer; nothing is asked for.
    case push
    /// Both.
    case both

    package var pulls: Bool { self != .push }
    var pushes: Bool { self != .pull }
}

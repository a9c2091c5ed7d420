/// What a hook is about: a command that the daemon runs when something new needs a person.
enum HookKind: String, Sendable, CaseIterable {
    /// A conflict has come to the ledger.
    case conflict
    /// More rows are held than before.
    case held
    /// The content differs from that of a peer.
    case mismatch

    /// The name of its key and flag.
    var key: ConfigurationKey {
        switch self {
        case .conflict: .onConflict
        case .held: .onHeld
        case .mismatch: .onMismatch
        }
    }
}

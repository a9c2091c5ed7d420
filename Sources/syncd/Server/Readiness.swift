import Sync

/// Whether a daemon should get work: a load balancer or a service manager asks.
///
/// Pure: the state is passed in.
enum Readiness: Sendable, Hashable {
    case ready
    /// With the reason, which tells nothing of the replica.
    case notReady(String)

    /// Milliseconds for which a daemon that has peers waits for a first exchange. A peer that is down for
    /// longer must not keep this replica from being used.
    static let patienceMilliseconds: Int64 = 30_000

    /// - Parameters:
    ///   - isReadable: Whether the file can be read.
    ///   - contacts: Of each followed peer, whether an exchange has succeeded since the start.
    ///   - milliseconds: How long the daemon runs.
    init(isReadable: Bool, contacts: [Bool], milliseconds: Int64) {
        guard isReadable else {
            self = .notReady("the file cannot be read")
            return
        }
        let isAlone = !contacts.isEmpty && !contacts.contains(true)
        self =
            isAlone && milliseconds < Readiness.patienceMilliseconds
            ? .notReady("no exchange with a peer has succeeded yet") : .ready
    }
}

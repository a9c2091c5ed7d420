import Sync

/// What the listener grants one client, besides the ``Sync/Limits`` of the messages themselves.
struct ServerLimits: Sendable {
    var messages = Sync.Limits.standard

    /// Bytes of one header line, and of all header lines of a request together.
    var headerFieldBytes = 8 << 10
    var headerBytes = 16 << 10
    var headerCount = 64

    /// Connections at a time; further ones wait in the system's queue until one ends.
    var connections = 2_048

    /// Seconds after which a connection without a request, or with one that does not go on, is closed.
    var idleSeconds: Int64 = 60

    /// Seconds for a whole request and its answer, for those that carry no changes.
    var shortRequestSeconds: Int64 = 60

    /// Seconds for which the rest of a refused body is read and thrown away. A connection that is closed with unread
    /// bytes is reset, and the client would never see why it was refused.
    var lingerSeconds: Int64 = 2

    /// Requests of one kind that may be under way at a time; more are answered 429.
    func concurrency(of action: Route.Action) -> Int {
        switch action {
        case .pull: 1_500
        case .push, .digest: 16
        case .hello, .status, .metrics, .health, .dashboard: 64
        }
    }

    /// Seconds for a whole request and its answer, or until the connection is closed.
    func seconds(for action: Route.Action) -> Int64 {
        switch action {
        case .pull: Int64(messages.requestSeconds + messages.longPollSeconds)
        case .push: Int64(messages.requestSeconds)
        case .hello, .digest, .status, .metrics, .health, .dashboard: shortRequestSeconds
        }
    }

    /// Bytes of the body of a request.
    func bodyBytes(for action: Route.Action) -> Int {
        switch action {
        case .push: messages.streamBodyBytes
        case .hello, .pull, .digest: messages.messageBytes
        case .status, .metrics, .health, .dashboard: 0
        }
    }
}

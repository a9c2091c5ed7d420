import Sync

/// The limits of the listener. ``Sync/Limits`` holds those of the messages.
struct ServerLimits: Sendable {
    var messages = Sync.Limits.standard

    /// Bytes of one header line, and of all header lines of a request together.
    var headerFieldBytes = 8 << 10
    var headerBytes = 16 << 10
    var headerCount = 64

    /// Connections at a time; further ones wait in the system's queue until one ends.
    var connections = 2_048

    /// Of these, connections of one address: half, so that one address cannot exclude the others. Further
    /// ones are closed at once.
    var connectionsPerAddress = 1_024

    /// Seconds for a TLS handshake.
    var handshakeSeconds: Int64 = 10

    /// Requests that one address may make at once, and in each second after that; more are answered 429.
    var requestBurst = 2_000
    var requestsPerSecond = 1_000

    /// The average bytes a second at which a body must arrive once it has taken ``slowBodySeconds``.
    var bodyBytesPerSecond = 64
    var slowBodySeconds: Int64 = 30

    /// Seconds after which a connection without a request, or with one that makes no progress, is closed.
    var idleSeconds: Int64 = 60

    /// Seconds for a whole request and its answer, for requests that carry no changes.
    var shortRequestSeconds: Int64 = 60

    /// Seconds for which the rest of a refused body is read and discarded. Closing a connection with unread
    /// bytes resets it, and the client would not see why its request was refused.
    var lingerSeconds: Int64 = 2

    /// Requests of one kind that may be under way at a time; further ones are answered 429.
    func concurrency(of action: Route.Action) -> Int {
        switch action {
        case .pull: pulls
        case .push, .digest: bodies
        case .wait: waits
        case .reload: 4
        case .form: 16
        case .snapshotPart: snapshotParts
        case .events: watchers
        case .hello, .snapshot, .status, .metrics, .health, .dashboard, .ready: 64
        }
    }

    /// Pulls under way at a time; most of them wait for new changes.
    var pulls = 1_500

    /// Pushes, and digest requests, under way at a time. Each holds a part of its body in memory, or reads a
    /// table.
    var bodies = 16

    /// Parts of snapshots under way at a time. Each is in memory.
    var snapshotParts = 16

    /// Waits for a write under way at a time. Each looks at the file whenever it changes.
    var waits = 128

    /// Browsers that follow the pages at a time. Each has a connection, and no memory of its own.
    var watchers = 512

    /// Seconds after which such a browser connects again.
    var watchSeconds: Int64 = 3_600

    /// Of these, requests of one address: half, as with connections.
    func concurrencyPerAddress(of action: Route.Action) -> Int { max(concurrency(of: action) / 2, 1) }

    /// Seconds for a whole request and its answer; then the connection is closed.
    ///
    /// - Parameter body: The bytes of the request's body, as its head says.
    func seconds(for action: Route.Action, body: Int) -> Int64 {
        switch action {
        case .pull:
            Int64(
                messages.requestSeconds + messages.longPollSeconds
                    + messages.extraSeconds(ofBody: messages.largestBodyBytes))
        case .wait: shortRequestSeconds + Int64(WaitRequest.mostSeconds)
        case .push: Int64(messages.requestSeconds + messages.extraSeconds(ofBody: body))
        case .snapshotPart: Int64(messages.requestSeconds)
        case .events: watchSeconds
        case .hello, .digest, .snapshot, .status, .metrics, .health, .dashboard, .reload, .form, .ready:
            shortRequestSeconds
        }
    }

    /// The largest body of a request, in bytes.
    func bodyBytes(for action: Route.Action) -> Int {
        switch action {
        case .push: messages.largestBodyBytes
        case .hello, .pull, .digest: messages.messageBytes
        case .wait: 4 << 10
        case .form: Pages.formBytes
        case .snapshot, .snapshotPart, .status, .metrics, .health, .dashboard, .events, .reload, .ready: 0
        }
    }
}

import Journal

/// A peer in the same process: another replica's file, through its endpoint. Only the batches are encoded.
public struct LocalTransport: Transport {
    /// The name of the peer: the path of its file, unless another name was given.
    public let name: String
    let endpoint: Endpoint
    /// True for a file without a daemon. Each contact then brings its tables up to date first: rows that
    /// programs wrote in violation of constraints are held, and held rows that can be shown return, before a
    /// peer reads or compares them.
    private let looks: Bool

    /// - Parameters:
    ///   - endpoint: The endpoint of a replica that this process keeps up to date; see
    ///     ``Replicator``.
    ///   - name: The name of the peer in errors and logs.
    public init(_ endpoint: Endpoint, name: String) {
        self.init(endpoint, name: name, looks: false)
    }

    private init(_ endpoint: Endpoint, name: String, looks: Bool) {
        self.endpoint = endpoint
        self.name = name
        self.looks = looks
    }

    /// Opens the replica at `path`, which must exist.
    ///
    /// - Parameters:
    ///   - path: The path of the peer's file.
    ///   - limits: The sizes, counts and times of replication.
    ///   - functions: The functions of tables with the policy `MergePolicy/custom(_:)`.
    ///   - clock: The clock by which it waits.
    /// - Throws: ``SyncError`` when the file cannot be opened, or is not a replica.
    public static func open(
        path: String, limits: Limits, functions: ConflictFunctions = ConflictFunctions(), clock: any SyncClock
    ) throws -> LocalTransport {
        do {
            var options = Replica.Options()
            options.hasOneConnection = true
            let replica = try Replica.open(at: path, options: options)
            let inbox = try Inbox(replica: replica, limits: limits, functions: functions) {
                Stamp(milliseconds: clock.wallMilliseconds())
            }
            // This file is exchanged with but never followed, so it needs no watch.
            let endpoint = Endpoint(replica: replica, inbox: inbox, limits: limits, clock: clock) {
                AsyncStream { $0.finish() }
            }
            return LocalTransport(endpoint, name: path, looks: true)
        } catch {
            throw SyncError(wrapping: error)
        }
    }

    /// As ``Transport/hello(_:)``, by a call of ``Endpoint/hello(_:)``.
    ///
    /// - Throws: ``SyncError``: as that, and for errors of either file.
    public func hello(_ hello: Hello) async throws -> Hello {
        try await SyncError.wrapping {
            try await look()
            return try await endpoint.hello(hello)
        }
    }

    /// As ``Transport/pull(_:onFrame:)``, by a call of ``Endpoint/pull(_:send:)``.
    ///
    /// - Throws: ``SyncError``: as that, what `onFrame` throws, and for errors of either file.
    public func pull(
        _ request: PullRequest, onFrame: @Sendable (Frame) async throws -> Void
    ) async throws -> PullEnd {
        try await SyncError.wrapping {
            try await look()
            return try await endpoint.pull(request, send: onFrame)
        }
    }

    /// As ``Transport/push(_:)``, by a ``PushReceiver``.
    ///
    /// - Throws: ``SyncError``: as that, and for errors of either file. What came before the failure stays
    ///   applied there.
    public func push(_ frames: [Frame]) async throws -> PushReply {
        try await SyncError.wrapping {
            var receiver = endpoint.beginPush()
            for frame in frames { try await receiver.receive(frame) }
            return try await receiver.finish()
        }
    }

    /// As ``Transport/digest(_:)``, by a call of ``Endpoint/digest(_:)``.
    ///
    /// - Throws: ``SyncError``: as that, and for errors of either file.
    public func digest(_ request: DigestRequest) async throws -> DigestReply {
        try await SyncError.wrapping {
            if case .tables = request.question { try await look() }
            return try await endpoint.digest(request)
        }
    }

    private func look() async throws {
        guard looks else { return }
        _ = try await blocking { [inbox = endpoint.inbox] in try inbox.bringBackHeldRows() }
    }
}

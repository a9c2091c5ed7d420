import Foundation

/// What a process must change about itself before it serves others.
enum ProcessSetup {
    /// A peer that hangs up must not kill the daemon (SIGPIPE), nor a file-size limit (SIGXFSZ): both then arrive as errors
    /// of the call, which are handled where they occur.
    static func ignoreSignals() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Enough for a command: a file with its connections, and the runtime's own event descriptors.
    static let filesOfCommand: UInt64 = 32

    /// Enough for a daemon besides the event loops of its threads, its connections to peers, and those of its clients.
    private static let filesOfDaemon = 64
    private static let filesPerThread = 4
    private static let filesPerPeer = 8
    private static let fewestConnections = 32

    /// How many clients may be connected at a time, so that descriptors are always left for everything else.
    ///
    /// A client needs no token to connect; and a process that gets no socket for a peer is ended by its runtime.
    ///
    /// - Throws: ``Failure`` when too few files may be open to serve anybody.
    static func connections(atMost most: Int, peers: Int) throws -> Int {
        let threads = ProcessInfo.processInfo.activeProcessorCount
        let own = filesOfDaemon + threads * filesPerThread + peers * filesPerPeer
        guard let limit = try reserveFiles(UInt64(own + fewestConnections)) else { return most }
        return min(most, Int(clamping: limit) - own)
    }

    /// Raises the limit of open files as far as it may be raised.
    ///
    /// The runtime's event loops end the process when they get no descriptors; so it must be seen before they start.
    ///
    /// - Returns: How many may be open; nil when that cannot be told.
    /// - Throws: ``Failure`` when less than `least` may be open.
    @discardableResult
    static func reserveFiles(_ least: UInt64) throws -> UInt64? {
        let limit = raiseFileLimit()
        guard let limit, limit < least else { return limit }
        throw Failure(
            "only \(limit) files may be open, and at least \(least) are needed",
            hint: "Raise the limit: ulimit -n, or LimitNOFILE in a systemd unit.")
    }

    /// Raises the soft limit of open files to the hard limit.
    ///
    /// - Returns: The limit that now holds; nil when it cannot be read.
    private static func raiseFileLimit() -> UInt64? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        if limit.rlim_cur < limit.rlim_max {
            var raised = limit
            raised.rlim_cur = limit.rlim_max
            if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
        }
        return UInt64(limit.rlim_cur)
    }
}

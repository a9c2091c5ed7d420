import Foundation

/// Process-wide settings that must be made before a command runs.
enum ProcessSetup {
    /// Ignores SIGPIPE (a peer hangs up) and SIGXFSZ (a file-size limit is reached): by default they kill the
    /// process. Ignored, both arrive as errors of the call, which are handled where they occur.
    static func ignoreSignals() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// File descriptors for a command: the database with its connections, and the runtime's event loops.
    static let filesOfCommand: UInt64 = 32

    /// File descriptors for a daemon, besides those for event loops, for peers and for clients.
    private static let filesOfDaemon = 64
    private static let filesPerThread = 4
    private static let filesPerPeer = 8
    private static let fewestConnections = 32

    /// How many peers a reload may add to those of the start.
    static let sparePeers = 16

    /// Returns how many clients may be connected at a time, so that descriptors always remain for everything
    /// else.
    ///
    /// A client needs no token to connect, and the runtime ends a process that gets no socket for a peer.
    ///
    /// - Throws: ``Failure`` when the limit of open files is too low to serve any client.
    static func connections(atMost most: Int, peers: Int) throws -> Int {
        let threads = ProcessInfo.processInfo.activeProcessorCount
        let own = filesOfDaemon + threads * filesPerThread + (peers + sparePeers) * filesPerPeer
        guard let limit = try reserveFiles(UInt64(own + fewestConnections)) else { return most }
        return min(most, Int(clamping: limit) - own)
    }

    /// Raises the limit of open files as far as it may be raised.
    ///
    /// The runtime's event loops end the process when they get no descriptors, so this runs before they
    /// start.
    ///
    /// - Returns: How many files may be open; nil when the limit cannot be read.
    /// - Throws: ``Failure`` when fewer than `least` may be open.
    @discardableResult
    static func reserveFiles(_ least: UInt64) throws -> UInt64? {
        let limit = raiseFileLimit()
        guard let limit, limit < least else { return limit }
        throw Failure(
            "Only \(limit) files may be open, and at least \(least) are needed",
            hint: "Raise the limit: ulimit -n, or LimitNOFILE in a systemd unit.")
    }

    /// Raises the soft limit of open files to the hard limit.
    ///
    /// - Returns: The soft limit after the change; nil when it cannot be read.
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

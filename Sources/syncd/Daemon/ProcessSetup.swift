import CFileShim
import Foundation

/// Process-wide settings that must be made before a command runs.
enum ProcessSetup {
    /// Ignores SIGPIPE (a peer hangs up) and SIGXFSZ (a file-size limit is reached): by default they kill the
    /// process. Ignored, both arrive as errors of the call, which are handled where they occur.
    static func ignoreSignals() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Gives the memory of large values back to the system when they have passed: a daemon that has sent a few of them
    /// must not stay large. A mapping costs a page fault for each of its pages, so ordinary frames, of about 1 MiB,
    /// are not among them.
    static func returnLargeBlocks() { tandem_return_large_blocks(4 << 20) }

    /// File descriptors for a command: the database with its connections, and the runtime's event loops.
    static let filesOfCommand: UInt64 = 32

    /// File descriptors for each database of a daemon, besides those for event loops, for peers and for clients.
    private static let filesOfDaemon = 64
    private static let filesPerThread = 4
    private static let filesPerPeer = 8
    private static let fewestConnections = 32

    /// The most peers that a reload may add to those of the start.
    private static let sparePeers = 16

    /// What a daemon can serve within the limit of open files. Peers that a reload may add come before
    /// clients beyond the fewest.
    struct Capacity: Equatable {
        /// How many clients of each database may be connected at a time.
        let connections: Int
        /// How many peers all databases together may follow, also after a reload.
        let peers: Int

        /// - Parameters:
        ///   - spare: How many files may be open beyond those that the daemon needs to start, 0 or more.
        ///   - most: The most clients to serve for each database.
        ///   - peers: The number of peers at the start.
        ///   - databases: The number of databases, 1 or more.
        init(spare: Int, atMost most: Int, peers: Int, databases: Int = 1) {
            let added = min(sparePeers, spare / filesPerPeer)
            self.peers = peers + added
            let further = (spare - added * filesPerPeer) / databases
            connections = min(most - fewestConnections, further) + fewestConnections
        }
    }

    /// Returns what a daemon can serve, so that descriptors always remain for everything else.
    ///
    /// A client needs no token to connect, and the runtime ends a process that gets no socket for a peer.
    ///
    /// - Throws: ``Failure`` when the limit of open files is too low to serve any client.
    static func capacity(connections most: Int, peers: Int, databases: Int) throws -> Capacity {
        let threads = ProcessInfo.processInfo.activeProcessorCount
        let needed =
            (filesOfDaemon + fewestConnections) * databases + threads * filesPerThread + peers * filesPerPeer
        let limit = try reserveFiles(UInt64(needed))
        return Capacity(
            spare: limit.map { Int(clamping: $0) - needed } ?? .max, atMost: most, peers: peers, databases: databases)
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

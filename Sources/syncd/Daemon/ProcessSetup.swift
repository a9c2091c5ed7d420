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

    /// Enough for a daemon besides the event loops of its threads, of which each takes a few.
    static let filesOfDaemon: UInt64 = 64
    static let filesPerThread: UInt64 = 4

    /// Raises the limit of open files as far as it may be raised.
    ///
    /// The runtime's event loops end the process when they get no descriptors; so it must be seen before they start.
    ///
    /// - Throws: ``Failure`` when less than `least` may be open.
    static func reserveFiles(_ least: UInt64) throws {
        guard let limit = raiseFileLimit(), limit < least else { return }
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

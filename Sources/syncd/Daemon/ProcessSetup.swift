import Foundation

/// What a process must change about itself before it serves others.
enum ProcessSetup {
    /// A peer that hangs up must not kill the daemon (SIGPIPE), nor a file-size limit (SIGXFSZ): both then arrive as errors
    /// of the call, which are handled where they occur.
    static func ignoreSignals() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Raises the soft limit of open files to the hard limit.
    ///
    /// - Returns: The limit that now holds; nil when it cannot be read.
    @discardableResult
    static func raiseFileLimit() -> UInt64? {
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

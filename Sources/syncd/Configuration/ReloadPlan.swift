import Journal

/// What of new settings the running daemon of a database can take over, and what waits until it is started again.
struct ReloadPlan: Sendable, Equatable {
    /// The settings with which the daemon goes on.
    let settings: DaemonSettings
    /// The keys that take effect now.
    let applied: [ConfigurationKey]
    /// The keys that changed and need a restart.
    let waiting: [ConfigurationKey]

    /// - Throws: ``Failure`` when what can change now does not fit what cannot. Nothing is to be changed
    ///   then.
    init(from running: DaemonSettings, to wanted: DaemonSettings) throws {
        guard !wanted.accessTokens.isEmpty || running.address.isLoopback else {
            throw Failure(
                "The token cannot be taken away from a daemon that listens on \(running.address)",
                hint: "Start the daemon again to change the address and the token together")
        }
        var applied: [ConfigurationKey] = []
        var waiting: [ConfigurationKey] = []
        func compare<T: Equatable>(_ path: KeyPath<DaemonSettings, T>, _ key: ConfigurationKey, isLive: Bool) {
            guard running[keyPath: path] != wanted[keyPath: path] else { return }
            if isLive { applied.append(key) } else { waiting.append(key) }
        }
        // A listener cannot change between HTTP and HTTPS.
        let keepsScheme = (running.certificate == nil) == (wanted.certificate == nil)
        // Nor can it begin or cease to ask for certificates.
        let keepsAsking = (running.clientAuthorities == nil) == (wanted.clientAuthorities == nil)
        compare(\.database, .database, isLive: false)
        compare(\.extensions, .extensions, isLive: false)
        compare(\.secrets, .secrets, isLive: false)
        compare(\.address, .listen, isLive: false)
        compare(\.token, .tokenFile, isLive: true)
        compare(\.tokens, .tokens, isLive: true)
        compare(\.peers, .peers, isLive: true)
        compare(\.certificate, .tlsCertificate, isLive: keepsScheme)
        compare(\.clientAuthorities, .tlsClientAuthority, isLive: keepsAsking)
        compare(\.requestsPerSecond, .requestsPerSecond, isLive: true)
        compare(\.logLevel, .logLevel, isLive: true)
        compare(\.logFormat, .logFormat, isLive: true)
        compare(\.conflictDays, .conflictDays, isLive: false)
        compare(\.conflictsPerRow, .conflictsPerRow, isLive: false)
        compare(\.keep, .keep, isLive: false)
        compare(\.lease, .lease, isLive: false)
        compare(\.collect, .collect, isLive: false)
        compare(\.archiveFlush, .archiveFlush, isLive: false)
        compare(\.recapture, .recapture, isLive: false)
        for kind in HookKind.allCases { compare(\.hooks[kind], kind.key, isLive: true) }
        compare(\.afterMerge, .afterMerge, isLive: true)
        self.applied = applied
        self.waiting = waiting
        settings = DaemonSettings(
            name: running.name, database: running.database, extensions: running.extensions, secrets: running.secrets,
            address: running.address, token: wanted.token, tokens: wanted.tokens,
            certificate: keepsScheme ? wanted.certificate : running.certificate,
            clientAuthorities: keepsAsking ? wanted.clientAuthorities : running.clientAuthorities,
            peers: wanted.peers,
            requestsPerSecond: wanted.requestsPerSecond, logLevel: wanted.logLevel, logFormat: wanted.logFormat,
            conflictDays: running.conflictDays,
            conflictsPerRow: running.conflictsPerRow, keep: running.keep, lease: running.lease,
            collect: running.collect, archiveFlush: running.archiveFlush, recapture: running.recapture,
            hooks: wanted.hooks, afterMerge: wanted.afterMerge)
    }

    /// `applied peer, token-file; needs a restart: listen`
    var summary: String {
        guard !applied.isEmpty || !waiting.isEmpty else { return "nothing has changed" }
        var parts: [String] = []
        if !applied.isEmpty { parts.append("applied " + ReloadPlan.names(applied)) }
        if !waiting.isEmpty { parts.append("needs a restart: " + ReloadPlan.names(waiting)) }
        return parts.joined(separator: "; ")
    }

    /// `tls-cert, tokens`; nil when nothing takes effect.
    var appliedNames: String? { applied.isEmpty ? nil : ReloadPlan.names(applied) }

    private static func names(_ keys: [ConfigurationKey]) -> String {
        keys.map(\.rawValue).joined(separator: ", ")
    }
}

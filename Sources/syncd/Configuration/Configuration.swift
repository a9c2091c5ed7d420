import Logging
import Sync

/// The settings of `syncd run`, from flags, from a file, or from both: those of one database, or of several.
///
/// Paths are absolute or relative to the working directory, or begin with ``Credentials/prefix``.
struct Configuration: Sendable, Hashable {
    var database: String?
    /// The libraries of SQLite's extensions.
    var extensions: [String] = []
    var secrets: [ColumnArgument] = []
    var listen: ListenAddress?
    var peers: [PeerSettings] = []
    var tokenFile: String?
    var tokens: String?
    var tlsCertificate: String?
    var tlsKey: String?
    var tlsAuthority: String?
    /// The authorities whose client certificates count.
    var tlsClientAuthority: String?
    /// The bytes a second with each peer that has no rate of its own.
    var bandwidth: Bandwidth?
    /// The requests a second that one address may make.
    var requestsPerSecond: Int?
    var logLevel: Logger.Level?
    var logFormat: LogFormat?
    /// Days for which the ledger keeps conflicts.
    var conflictDays: Int?
    /// Conflicts of one row that the ledger keeps.
    var conflictsPerRow: Int?
    /// How much history the journal keeps at least.
    var keep: TimeSpan?
    /// How long a replica that is not heard of holds compaction back.
    var lease: TimeSpan?
    /// The age from which archives are collected; nil for never.
    var collect: TimeSpan?
    /// How long changes gather before they are written to archives.
    var archiveFlush: TimeSpan?
    /// Whether rows that programs wrote past capture become changes by themselves.
    var recapture: RecaptureMode?
    /// The commands of hooks, for the shell.
    var onConflict: String?
    var onHeld: String?
    var onMismatch: String?
    /// SQL to run after changes were merged.
    var afterMerge: String?

    /// The databases of a configuration of several, each with what it takes from the top; nil for a configuration of
    /// one database.
    var databases: [NamedConfiguration]?

    /// Where the file has each key. Settings of flags have no place.
    var places: [ConfigurationKey: ConfigurationPlace] = [:]

    /// The numbers that ``conflictDays``, ``conflictsPerRow`` and ``requestsPerSecond`` may be.
    static let countRange = 1...1_000_000
}

/// One peer to follow. What is nil is as for the daemon itself.
struct PeerSettings: Sendable, Hashable {
    var address: String
    var tokenFile: String?
    var tlsAuthority: String?
    /// The certificate with which the daemon identifies itself to this peer, and its key.
    var tlsCertificate: String?
    var tlsKey: String?
    /// The key that the peer's certificate must have.
    var tlsPin: String?
    var bandwidth: Bandwidth?
    var direction: SyncDirection?
    /// Where the file has the peer; nil for a flag.
    var place: ConfigurationPlace?

    init(_ address: String) { self.address = address }
}

extension Configuration {
    /// Returns this configuration with the settings of `flags` on top: a flag wins over the file, and the
    /// peers of both are followed.
    func overridden(by flags: Configuration) -> Configuration {
        var result = self
        func override<T>(_ key: ConfigurationKey, _ path: WritableKeyPath<Configuration, T?>) {
            guard let value = flags[keyPath: path] else { return }
            result[keyPath: path] = value
            result.places[key] = nil
        }
        override(.database, \.database)
        override(.listen, \.listen)
        override(.tokenFile, \.tokenFile)
        override(.tokens, \.tokens)
        override(.tlsCertificate, \.tlsCertificate)
        override(.tlsKey, \.tlsKey)
        override(.tlsAuthority, \.tlsAuthority)
        override(.tlsClientAuthority, \.tlsClientAuthority)
        override(.bandwidth, \.bandwidth)
        override(.requestsPerSecond, \.requestsPerSecond)
        override(.logLevel, \.logLevel)
        override(.logFormat, \.logFormat)
        override(.conflictDays, \.conflictDays)
        override(.conflictsPerRow, \.conflictsPerRow)
        override(.keep, \.keep)
        override(.lease, \.lease)
        override(.collect, \.collect)
        override(.archiveFlush, \.archiveFlush)
        override(.recapture, \.recapture)
        override(.onConflict, \.onConflict)
        override(.onHeld, \.onHeld)
        override(.onMismatch, \.onMismatch)
        override(.afterMerge, \.afterMerge)
        result.extensions += flags.extensions
        result.peers += flags.peers
        return result
    }
}

extension Configuration {
    /// The command of each hook that there is.
    var hooks: [HookKind: String] {
        var hooks: [HookKind: String] = [:]
        hooks[.conflict] = onConflict
        hooks[.held] = onHeld
        hooks[.mismatch] = onMismatch
        return hooks
    }
}

extension Configuration {
    /// The files that are read for the settings, as they are named: tokens, certificates, keys and authorities.
    var files: Set<String> {
        var paths: [String?] = [tokenFile, tokens, tlsCertificate, tlsKey, tlsAuthority, tlsClientAuthority]
        for peer in peers {
            paths += [peer.tokenFile, peer.tlsAuthority, peer.tlsCertificate, peer.tlsKey]
        }
        return Set(paths.compactMap { $0 }).union((databases ?? []).flatMap(\.configuration.files))
    }
}

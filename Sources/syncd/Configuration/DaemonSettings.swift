import Journal
import Logging
import Sync

/// What a daemon works with: a configuration without mistakes, and the content of the files that it names.
struct DaemonSettings: Sendable, Equatable {
    /// The name of the database among several of the process; nil for the only one.
    var name: String?
    /// Empty for a hub, which has no file.
    let database: String
    /// The libraries of SQLite's extensions.
    var extensions: [String] = []
    /// The columns that are declared secret, besides those that the file has.
    var secrets: [ColumnArgument] = []
    let address: ListenAddress
    /// The token that is sent to peers, and accepted from them; nil when there is none.
    let token: Token?
    /// Further tokens that are accepted. Without any token, only a listener on loopback may run.
    var tokens = AccessTokens()
    /// nil for a listener without TLS.
    let certificate: ListenerCertificate?
    /// The authorities whose client certificates count; nil for a listener that asks for none.
    var clientAuthorities: ClientAuthorities?
    let peers: [PeerConfiguration]
    /// The requests a second that one address may make.
    var requestsPerSecond = ServerLimits().requestsPerSecond
    let logLevel: Logger.Level
    var logFormat = LogFormat.text
    let conflictDays: Int
    let conflictsPerRow: Int
    let keep: TimeSpan
    let lease: TimeSpan
    /// The age from which archives are collected; nil for never.
    var collect: TimeSpan?
    /// How long changes gather before they are written to archives; nil for the standard time.
    var archiveFlush: TimeSpan?
    var recapture = RecaptureMode.automatic
    /// The commands of hooks.
    var hooks: [HookKind: String] = [:]
    /// SQL to run after changes were merged; nil for none.
    var afterMerge: String?

    /// All tokens that are accepted.
    var accessTokens: AccessTokens { AccessTokens(tokens.entries + (token.map { [$0.entry] } ?? [])) }

    /// The standard limits of replication with those of these settings.
    var limits: Limits {
        var limits = Limits.standard
        limits.conflictRetention.days = conflictDays
        limits.conflictRetention.entriesPerKey = conflictsPerRow
        limits.historyMilliseconds = keep.milliseconds
        limits.leaseMilliseconds = lease.milliseconds
        limits.archive.collection = collect.map { collect in
            var settings = CollectionSettings()
            settings.keepMilliseconds = collect.milliseconds
            settings.leaseMilliseconds = lease.milliseconds
            return settings
        }
        if let archiveFlush { limits.archive.gather(for: archiveFlush.milliseconds) }
        limits.recapturesByItself = recapture == .automatic
        return limits
    }
}

import Journal
import Logging
import Sync

/// What a daemon works with: a configuration without mistakes, and the content of the files that it names.
struct DaemonSettings: Sendable, Equatable {
    let database: String
    let address: ListenAddress
    /// nil only for a listener on loopback.
    let token: Token?
    /// nil for a listener without TLS.
    let certificate: ListenerCertificate?
    let peers: [PeerConfiguration]
    let logLevel: Logger.Level
    let conflictDays: Int
    let conflictsPerRow: Int

    /// The standard limits of replication with those of these settings.
    var limits: Limits {
        var limits = Limits.standard
        limits.conflictRetention.days = conflictDays
        limits.conflictRetention.entriesPerKey = conflictsPerRow
        return limits
    }
}

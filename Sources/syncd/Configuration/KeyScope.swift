/// Where a key stands in a configuration of several databases.
enum KeyScope: Sendable, Hashable {
    /// Below the name of a database: what two databases cannot share.
    case database
    /// At the top, for each database that does not have it, or below the name of a database.
    case shared
    /// At the top: what the process has once.
    case process

    /// The keys that stand there, for messages.
    static func names(_ scope: KeyScope) -> String {
        ConfigurationKey.allCases.filter { $0.scope == scope && $0 != .databases }.map(\.rawValue)
            .joined(separator: ", ")
    }
}

extension ConfigurationKey {
    var scope: KeyScope {
        switch self {
        case .database, .listen, .peers, .secrets, .afterMerge: .database
        case .extensions, .logFormat, .databases: .process
        case .tokenFile, .tokens, .tlsCertificate, .tlsKey, .tlsAuthority, .tlsClientAuthority, .bandwidth,
            .requestsPerSecond, .logLevel, .conflictDays, .conflictsPerRow, .keep, .lease, .collect, .archiveFlush,
            .recapture,
            .onConflict, .onHeld, .onMismatch:
            .shared
        }
    }
}

extension Configuration {
    /// The flags that are about one database and have a value.
    var flagsOfOneDatabase: [ConfigurationKey] {
        [
            (ConfigurationKey.database, database != nil), (.listen, listen != nil), (.peers, !peers.isEmpty),
            (.afterMerge, afterMerge != nil),
        ].filter(\.1).map(\.0)
    }

    /// These flags without those.
    var flagsOfAllDatabases: Configuration {
        var flags = self
        flags.database = nil
        flags.listen = nil
        flags.peers = []
        flags.afterMerge = nil
        return flags
    }
}

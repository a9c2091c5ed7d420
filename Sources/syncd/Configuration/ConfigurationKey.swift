/// The keys of a configuration file. Each has the name of the flag that means the same.
enum ConfigurationKey: String, Sendable, CaseIterable {
    case database
    case extensions = "extension"
    case secrets = "secret"
    case listen
    case tokenFile = "token-file"
    case tokens
    case peers = "peer"
    case tlsCertificate = "tls-cert"
    case tlsKey = "tls-key"
    case tlsAuthority = "tls-ca"
    case tlsClientAuthority = "tls-client-ca"
    case bandwidth
    case requestsPerSecond = "requests-per-second"
    case logLevel = "log-level"
    case logFormat = "log-format"
    case conflictDays = "conflict-days"
    case conflictsPerRow = "conflicts-per-row"
    case keep
    case lease
    case collect
    case archiveFlush = "archive-flush"
    case recapture
    case onConflict = "on-conflict"
    case onHeld = "on-held"
    case onMismatch = "on-mismatch"
    case afterMerge = "after-merge"
    case databases

    /// What the key means, for the example file.
    var sentence: String {
        switch self {
        case .database: "The SQLite file to serve. Relative paths in this file begin at its own directory."
        case .extensions:
            "Extensions of SQLite with the functions and collations that the program adds to its own connections. They "
                + "are code that the daemon runs."
        case .secrets: "Columns whose values no log, listing or page shows: TABLE.COLUMN each."
        case .listen: "Where to listen. An address that other machines can reach needs a token."
        case .tokenFile:
            "The file with the token that peers must send, and that is sent to them. "
                + "\(Credentials.prefix)NAME is what systemd passes by LoadCredential=NAME:PATH."
        case .tokens:
            "The file with the tokens of peers, programs and people, each with what it may be used for: "
                + "\(AccessTokens.scopeNames). `syncd token` adds one."
        case .peers: "The peers to follow: an address each, or an address with what is special about this peer."
        case .tlsCertificate: "PEM file with the certificate chain of the listener, which then speaks HTTPS."
        case .tlsKey: "PEM file with the private key of that certificate."
        case .tlsAuthority: "PEM file of the authorities to trust for https peers, instead of the system's."
        case .tlsClientAuthority:
            "PEM file of the authorities whose client certificates count. The listener then asks for certificates, and "
                + "lines of `tokens` say what each of them may be used for."
        case .bandwidth:
            "The most bytes a second, each way, of each exchange with a peer, such as 250k or 2M. A peer may have a rate "
                + "of its own."
        case .requestsPerSecond:
            "How many requests a second one address may make, 1 to 1000000; more are answered 429, and peers ask again "
                + "later."
        case .logLevel: "How much to log: trace, debug, info, notice, warning, error or critical."
        case .logFormat: "How to log: text for people, or json with one object a line."
        case .conflictDays: "Days for which the ledger keeps conflicts, 1 to 1000000."
        case .conflictsPerRow: "How many conflicts of one row the ledger keeps, 1 to 1000000."
        case .keep:
            "How much of its history the journal keeps at least, as \(TimeSpan.form). Older changes go once every "
                + "replica has them and later ones have overwritten them."
        case .lease:
            "How long a replica that is not heard of holds that back, in the same form. One that comes back later may "
                + "have to be cloned anew."
        case .collect:
            "Removes from the archives among the peers what is older and needed no more, once a day; in the same form. "
                + "Without it, `syncd store collect` does so by hand."
        case .archiveFlush:
            "How long changes gather before they are written to the archives among the peers, up to 60s; in the same form. "
                + "Each write costs a request."
        case .recapture:
            "Whether rows that a program wrote past the triggers become changes when a comparison with a peer finds them: "
                + "automatic, or manual, by `syncd verify --repair`."
        case .onConflict:
            "A shell command that is run when a conflict comes; it gets a line of JSON on its standard input."
        case .onHeld: "The same for rows that constraints keep out of their tables, when there are more than before."
        case .onMismatch: "The same when the content differs from that of a peer."
        case .afterMerge:
            "SQL that is run after changes of peers were merged, and at the start, for example to build an index again "
                + "that the program keeps by functions of its own."
        case .databases:
            "Several databases in one process, instead of `database`: a name for each, and below it the keys of this "
                + "file. What stands at the top holds for each that does not have it; \(KeyScope.names(.database)) "
                + "stand below the names only, and \(KeyScope.names(.process)) at the top only."
        }
    }

    /// The lines of the example file that set the key.
    var example: [String] {
        switch self {
        case .database: ["database: /var/lib/syncd/shop.sqlite"]
        case .extensions: ["extension:", "  - /usr/lib/x86_64-linux-gnu/mod_spatialite.so"]
        case .secrets: ["secret:", "  - user.password"]
        case .listen: ["listen: 127.0.0.1:7707"]
        case .tokenFile: ["token-file: \(Credentials.prefix)token"]
        case .tokens: ["tokens: \(Credentials.prefix)tokens"]
        case .peers:
            [
                "peer:",
                "  - https://berlin.example:7707",
                "  - url: https://oslo.example:7707",
            ] + PeerKey.allCases.dropFirst().map { "    \($0.rawValue): \($0.example)" }
        case .tlsCertificate: ["tls-cert: cert.pem"]
        case .tlsKey: ["tls-key: \(Credentials.prefix)key"]
        case .tlsAuthority: ["tls-ca: authorities.pem"]
        case .tlsClientAuthority: ["tls-client-ca: clients.pem"]
        case .bandwidth: ["bandwidth: 2M"]
        case .requestsPerSecond: ["requests-per-second: 1000"]
        case .logLevel: ["log-level: info"]
        case .logFormat: ["log-format: text"]
        case .conflictDays: ["conflict-days: 90"]
        case .conflictsPerRow: ["conflicts-per-row: 100"]
        case .keep: ["keep: 7d"]
        case .lease: ["lease: 30d"]
        case .collect: ["collect: 90d"]
        case .archiveFlush: ["archive-flush: 1s"]
        case .recapture: ["recapture: automatic"]
        case .onConflict: ["on-conflict: mail -s conflict admin@example.org"]
        case .onHeld: ["on-held: logger -t shop"]
        case .onMismatch: ["on-mismatch: curl -sS --data-binary @- https://alerts.example.org/shop"]
        case .afterMerge: ["after-merge: INSERT INTO note_index(note_index) VALUES ('rebuild')"]
        case .databases:
            [
                "databases:",
                "  shop:",
                "    database: /var/lib/syncd/shop.sqlite",
                "    listen: 127.0.0.1:7707",
                "  stock:",
                "    database: /var/lib/syncd/stock.sqlite",
                "    listen: 127.0.0.1:7708",
                "    peer: [https://berlin.example:7708]",
            ]
        }
    }

    /// True for keys that the example file sets. The others are comments there: they have defaults, or name
    /// files that not everyone has.
    var isSetInExample: Bool {
        switch self {
        case .database, .listen, .tokenFile: true
        default: false
        }
    }
}

/// The keys of one peer.
enum PeerKey: String, Sendable, CaseIterable {
    case url
    case tokenFile = "token-file"
    case tlsAuthority = "tls-ca"
    case tlsCertificate = "tls-cert"
    case tlsKey = "tls-key"
    case tlsPin = "tls-pin"
    case bandwidth
    case direction

    fileprivate var example: String {
        switch self {
        case .url: "https://oslo.example:7707"
        case .tokenFile: "\(Credentials.prefix)oslo"
        case .tlsAuthority: "oslo-ca.pem"
        case .tlsCertificate: "client.pem"
        case .tlsKey: "\(Credentials.prefix)client-key"
        case .tlsPin: "sha256//YhKJKSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE="
        case .bandwidth: "250k"
        case .direction: "both    # or pull, or push"
        }
    }
}

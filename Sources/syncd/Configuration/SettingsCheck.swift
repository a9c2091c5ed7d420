import Foundation
import Journal
import Logging
import Sync

/// Makes the settings of one database of its configuration: reads the files that it names, and checks what belongs
/// together.
///
/// It collects every mistake, and opens neither the database nor a socket.
struct SettingsCheck {
    /// nil when there are mistakes, credentials that are not here, or when no database is named.
    private(set) var settings: DaemonSettings?
    private(set) var mistakes: [ConfigurationMistake]
    /// The keys that name credentials, when there are none here: what they hold is not checked.
    private(set) var unchecked: [String] = []

    /// What was checked.
    let configuration: Configuration

    private let credentials: Credentials

    /// - Parameters:
    ///   - name: The name of the database among several; nil for the only one.
    ///   - mistakes: Those of the text that the configuration was read from. With any, there are no settings.
    init(
        _ configuration: Configuration, named name: String? = nil, _ credentials: Credentials,
        mistakes: [ConfigurationMistake] = []
    ) {
        self.configuration = configuration
        self.credentials = credentials
        self.mistakes = mistakes
        check(name)
    }

    /// A key that the file has with an unusable value is not reported a second time as missing.
    private mutating func check(_ name: String?) {
        func isMissing(_ value: String?, _ key: ConfigurationKey) -> Bool {
            value == nil && configuration.places[key] == nil
        }
        let address = configuration.listen ?? .standard
        if isMissing(configuration.tokenFile, .tokenFile), isMissing(configuration.tokens, .tokens),
            !address.isLoopback
        {
            add(
                "Listening on \(address) without a token would open the replica to everyone who can reach this machine",
                hint: "Give a token with --token-file or `token-file`, or --tokens, or listen on 127.0.0.1.", .listen,
                configuration.places[.listen])
        }
        let token = load(configuration.tokenFile, .tokenFile, configuration.places[.tokenFile]) { path, credentials in
            try Token.load(from: path, isCredential: credentials.contains(path))
        }
        let tokens = load(configuration.tokens, .tokens, configuration.places[.tokens]) { path, credentials in
            try AccessTokens.load(from: path, isCredential: credentials.contains(path))
        }
        let certificate = certificate()
        let clientAuthorities = clientAuthorities(tokens)
        let authorities = load(configuration.tlsAuthority, .tlsAuthority, configuration.places[.tlsAuthority]) {
            path, _ in
            try TrustedAuthorities.check(path)
            return path
        }
        for path in configuration.extensions { checkExtension(path) }
        let peers = peers(token: token, authorities: authorities)
        guard mistakes.isEmpty, unchecked.isEmpty, let database = configuration.database else { return }
        settings = DaemonSettings(
            name: name, database: database, extensions: configuration.extensions, secrets: configuration.secrets,
            address: address,
            token: token, tokens: tokens ?? AccessTokens(),
            certificate: certificate, clientAuthorities: clientAuthorities, peers: peers,
            requestsPerSecond: configuration.requestsPerSecond ?? ServerLimits().requestsPerSecond,
            logLevel: configuration.logLevel ?? .info, logFormat: configuration.logFormat ?? .text,
            conflictDays: configuration.conflictDays ?? Limits.standard.conflictRetention.days,
            conflictsPerRow: configuration.conflictsPerRow ?? Limits.standard.conflictRetention.entriesPerKey,
            keep: configuration.keep ?? TimeSpan(milliseconds: Limits.standard.historyMilliseconds),
            lease: configuration.lease ?? TimeSpan(milliseconds: Limits.standard.leaseMilliseconds),
            collect: configuration.collect, archiveFlush: configuration.archiveFlush,
            recapture: configuration.recapture ?? .automatic,
            hooks: configuration.hooks, afterMerge: configuration.afterMerge)
    }

    /// A name without a directory is one of the system's libraries, and its ending may be left out.
    private mutating func checkExtension(_ path: String) {
        guard path.contains("/"), access(path, R_OK) != 0, access(path + ".so", R_OK) != 0 else { return }
        add(
            "The extension \(path) cannot be read: \(String(cString: strerror(errno)))",
            hint: "Name a shared library that is built as an extension of SQLite.", .extensions,
            configuration.places[.extensions])
    }

    private mutating func certificate() -> ListenerCertificate? {
        let place = configuration.places[.tlsCertificate]
        let keyPlace = configuration.places[.tlsKey]
        switch (configuration.tlsCertificate, configuration.tlsKey) {
        case (nil, nil): return nil
        case (let certificate?, let key?):
            guard let key = load(key, .tlsKey, keyPlace, { path, _ in path }) else { return nil }
            return load(certificate, .tlsCertificate, place) { path, _ in
                try ListenerCertificate(certificate: path, key: key)
            }
        case (_?, nil):
            add("--tls-cert is given without --tls-key", hint: "Give both or none.", .tlsCertificate, place)
        case (nil, _?): add("--tls-key is given without --tls-cert", hint: "Give both or none.", .tlsKey, keyPlace)
        }
        return nil
    }

    /// - Parameter tokens: The content of the tokens file; nil when it has mistakes, or is not here.
    private mutating func clientAuthorities(_ tokens: AccessTokens?) -> ClientAuthorities? {
        let place = configuration.places[.tlsClientAuthority]
        guard let file = configuration.tlsClientAuthority else {
            if tokens?.haveCertificates == true, place == nil {
                add(
                    "Lines of the tokens file are for client certificates, and the listener asks for none",
                    hint: "Give the authorities of the certificates with --tls-client-ca.", .tokens,
                    configuration.places[.tokens])
            }
            return nil
        }
        if configuration.tlsCertificate == nil, configuration.places[.tlsCertificate] == nil {
            add(
                "--tls-client-ca is given without --tls-cert",
                hint: "Only a listener with TLS can ask for certificates: give --tls-cert and --tls-key.",
                .tlsClientAuthority, place)
        }
        let isNamed = configuration.tokens != nil || configuration.places[.tokens] != nil
        if tokens?.haveCertificates == false || !isNamed {
            add(
                "--tls-client-ca is given, and no line of a tokens file is for a client certificate",
                hint: "Add a line to the file of --tokens: NAME SCOPE cert-name:NAME or cert-sha256:FINGERPRINT.",
                .tlsClientAuthority, place)
        }
        return load(file, .tlsClientAuthority, place) { path, _ in try ClientAuthorities.load(from: path) }
    }

    private mutating func peers(token: Token?, authorities: String?) -> [PeerConfiguration] {
        var names: Set<String> = []
        let bandwidth = configuration.bandwidth
        return configuration.peers.compactMap { peer in
            let place = peer.place
            let own = load(peer.tokenFile, .peers, place) { path, credentials in
                try Token.load(from: path, isCredential: credentials.contains(path))
            }
            var files = TLSFiles(
                authorities: load(peer.tlsAuthority, .peers, place) { path, _ in
                    try TrustedAuthorities.check(path)
                    return path
                } ?? authorities,
                certificate: clientFile(peer.tlsCertificate, place), key: clientFile(peer.tlsKey, place))
            files.serverKey = peer.tlsPin
            if (peer.tlsCertificate == nil) != (peer.tlsKey == nil) {
                add(
                    "the peer has only one of tls-cert and tls-key", hint: "Give both or none.", .peers, place)
            }
            if let certificate = files.certificate, let key = files.key {
                // libcurl would say at each connection that they do not fit together.
                _ = attempt(.peers, place) { try ListenerCertificate(certificate: certificate, key: key) }
            }
            return attempt(.peers, place) {
                try PeerConfiguration.checkScheme(of: peer.address)
                let bearer = try (own ?? token).map { try BearerToken($0.secret) }
                var result = try PeerConfiguration(peer.address, token: bearer, tls: files)
                result.direction = peer.direction ?? .both
                switch result.address {
                case .http, .archive(.s3): result.bytesPerSecond = (peer.bandwidth ?? bandwidth)?.bytesPerSecond
                case .file, .archive(.directory):
                    guard peer.bandwidth == nil else {
                        throw Failure(
                            "The peer \(result.name) has a bandwidth, and is no server",
                            hint: "Only http://, https:// and s3:// can be slowed down: leave the key out")
                    }
                }
                if case .file(let path) = result.address, access(path, F_OK) != 0 {
                    throw Failure(
                        "The peer \(path) is neither an address nor a file that exists",
                        hint: "A daemon is http://host:port or https://host:port; a replica on this machine is a path")
                }
                guard names.insert(result.name).inserted else {
                    throw Failure(
                        "The peer \(result.name) is given twice", hint: "Name each peer once, in --peer or in --config."
                    )
                }
                return result
            }
        }
    }

    /// A file that libcurl reads at each connection.
    private mutating func clientFile(_ path: String?, _ place: ConfigurationPlace?) -> String? {
        load(path, .peers, place) { path, _ in
            guard access(path, R_OK) == 0 else {
                throw Failure(
                    "The client's certificate or key \(path) cannot be read: \(String(cString: strerror(errno)))",
                    hint: "It must be a PEM file that the user of the daemon can read")
            }
            return path
        }
    }

    /// Reads a file that the configuration names; nil for a file that is not named, is missing here because
    /// it is a credential, or has a mistake.
    private mutating func load<T>(
        _ path: String?, _ key: ConfigurationKey, _ place: ConfigurationPlace?,
        _ body: (String, Credentials) throws -> T
    ) -> T? {
        guard let path else { return nil }
        guard !credentials.lacks(path) else {
            unchecked.append(path)
            return nil
        }
        let credentials = credentials
        return attempt(key, place) { try body(try credentials.resolved(path), credentials) }
    }

    private mutating func attempt<T>(
        _ key: ConfigurationKey, _ place: ConfigurationPlace?, _ body: () throws -> T
    ) -> T? {
        do {
            return try body()
        } catch {
            let failure = Failure(describing: error)
            add(failure?.message ?? "\(error)", hint: failure?.hint ?? "Check the file.", key, place)
            return nil
        }
    }

    private mutating func add(
        _ message: String, hint: String, _ key: ConfigurationKey, _ place: ConfigurationPlace?
    ) {
        mistakes.append(ConfigurationMistake(message, hint: hint, key: key.rawValue, at: place))
    }
}

import Foundation
import Logging
import Sync
import Yams

/// Turns the nodes of a document into settings, and collects every mistake instead of stopping at the first.
struct ConfigurationReader {
    /// The directory at which relative paths begin; empty for the working directory.
    let directory: String
    private(set) var configuration: Configuration
    private(set) var mistakes: [ConfigurationMistake] = []

    /// - Parameter defaults: The settings of keys that are not there.
    init(directory: String, defaults: Configuration = Configuration()) {
        self.directory = directory
        configuration = defaults
    }

    /// Reads a whole file.
    mutating func read(_ keys: Node.Mapping) {
        guard let databases = keys[Node(ConfigurationKey.databases.rawValue)] else {
            return read(keys) { _ in nil }
        }
        read(keys) { key in
            guard key.scope == .database else { return nil }
            return (
                "\"\(key.rawValue)\" is at the top of a file with several databases",
                "Put it below the name of its database"
            )
        }
        readDatabases(databases)
    }

    /// - Parameter problem: Says what is wrong with a key that cannot be here; nil when it can.
    private mutating func read(
        _ keys: Node.Mapping, problem: (ConfigurationKey) -> (sentence: String, hint: String)?
    ) {
        for (name, value) in keys {
            guard let key = name.scalar.flatMap({ ConfigurationKey(rawValue: $0.string) }) else {
                unknown(name, allowed: ConfigurationKey.allCases.map(\.rawValue))
                continue
            }
            if let (sentence, hint) = problem(key) {
                mistake(sentence, hint: hint, key.rawValue, name)
                continue
            }
            configuration.places[key] = name.place
            read(key, value)
        }
    }

    private mutating func readDatabases(_ value: Node) {
        let key = ConfigurationKey.databases.rawValue
        guard let entries = value.mapping, !entries.isEmpty else {
            mistake(
                "\"\(key)\" is no list of names with the keys of each", hint: "Write `NAME:`, and its keys below it",
                key, value)
            configuration.databases = []
            return
        }
        var databases: [NamedConfiguration] = []
        for (name, value) in entries {
            guard let text = name.scalar?.string, NamedConfiguration.isName(text) else {
                mistake(
                    "\"\(name.scalar?.string ?? "")\" is no name of a database",
                    hint: "Give \(NamedConfiguration.form)",
                    key, name)
                continue
            }
            guard let keys = value.mapping else {
                mistake(
                    "\"\(text)\" has no list of keys with values", hint: "Write its keys below it, such as `database:`",
                    key, name)
                continue
            }
            var reader = ConfigurationReader(directory: directory, defaults: configuration)
            reader.read(keys) { key in
                guard key.scope == .process else { return nil }
                return (
                    "\"\(key.rawValue)\" is for the whole process, not for one database",
                    "Put it at the top of the file, or leave it out"
                )
            }
            mistakes += reader.mistakes
            databases.append(
                NamedConfiguration(name: text, configuration: reader.configuration, place: name.place))
        }
        configuration.databases = databases
    }

    private mutating func read(_ key: ConfigurationKey, _ value: Node) {
        let name = key.rawValue
        switch key {
        case .database: configuration.database = path(value, name)
        case .extensions: configuration.extensions = list(value, name).map { resolved($0, isLibrary: true) }
        case .secrets: readSecrets(value)
        case .listen: configuration.listen = address(value, name)
        case .tokenFile: configuration.tokenFile = path(value, name)
        case .tokens: configuration.tokens = path(value, name)
        case .peers: readPeers(value)
        case .tlsCertificate: configuration.tlsCertificate = path(value, name)
        case .tlsKey: configuration.tlsKey = path(value, name)
        case .tlsAuthority: configuration.tlsAuthority = path(value, name)
        case .tlsClientAuthority: configuration.tlsClientAuthority = path(value, name)
        case .bandwidth: configuration.bandwidth = bandwidth(value, name)
        case .requestsPerSecond: configuration.requestsPerSecond = count(value, name)
        case .logLevel: configuration.logLevel = choice(value, name, "log level", of: "levels")
        case .logFormat: configuration.logFormat = choice(value, name, "log format", of: "formats")
        case .conflictDays: configuration.conflictDays = count(value, name)
        case .conflictsPerRow: configuration.conflictsPerRow = count(value, name)
        case .keep: configuration.keep = span(value, name)
        case .lease: configuration.lease = span(value, name)
        case .collect: configuration.collect = span(value, name)
        case .archiveFlush: configuration.archiveFlush = flush(value, name)
        case .recapture: configuration.recapture = choice(value, name, "mode", of: "modes")
        case .onConflict: configuration.onConflict = text(value, name)
        case .onHeld: configuration.onHeld = text(value, name)
        case .onMismatch: configuration.onMismatch = text(value, name)
        case .afterMerge: configuration.afterMerge = text(value, name)
        // Read last, with the others as defaults.
        case .databases: break
        }
    }

    private mutating func readSecrets(_ value: Node) {
        let name = ConfigurationKey.secrets.rawValue
        configuration.secrets = list(value, name).compactMap { text in
            let column = ColumnArgument(argument: text)
            if column == nil { mistake("\"\(text)\" is not TABLE.COLUMN", hint: "Give user.password", name, value) }
            return column
        }
    }

    private mutating func readPeers(_ value: Node) {
        guard let list = value.sequence else {
            mistake(
                "\"peer\" is not a list", hint: "Write each peer on a line of its own that begins with `- `", "peer",
                value)
            return
        }
        for node in list {
            let peer = node.mapping == nil ? text(node, "peer").map { PeerSettings($0) } : readPeer(node)
            guard var peer else { continue }
            if !peer.address.contains("://") { peer.address = resolved(peer.address) }
            peer.place = node.place
            configuration.peers.append(peer)
        }
    }

    private mutating func readPeer(_ node: Node) -> PeerSettings? {
        var peer = PeerSettings("")
        for (name, value) in node.mapping ?? [:] {
            guard let key = name.scalar.flatMap({ PeerKey(rawValue: $0.string) }) else {
                unknown(name, allowed: PeerKey.allCases.map(\.rawValue))
                continue
            }
            switch key {
            case .url: peer.address = text(value, key.rawValue) ?? ""
            case .tokenFile: peer.tokenFile = path(value, key.rawValue)
            case .tlsAuthority: peer.tlsAuthority = path(value, key.rawValue)
            case .tlsCertificate: peer.tlsCertificate = path(value, key.rawValue)
            case .tlsKey: peer.tlsKey = path(value, key.rawValue)
            case .tlsPin: peer.tlsPin = pin(value, key.rawValue)
            case .bandwidth: peer.bandwidth = bandwidth(value, key.rawValue)
            case .direction: peer.direction = choice(value, key.rawValue, "direction", of: "directions")
            }
        }
        if node.mapping?[Node(PeerKey.url.rawValue)] == nil {
            mistake("the peer has no \"url\"", hint: "Give its address: `url: https://host:7707`", "url", node)
        }
        return peer.address.isEmpty ? nil : peer
    }
}

// MARK: - Values

extension ConfigurationReader {
    /// The text of a scalar as it is written, whatever type YAML would give it.
    private mutating func text(_ node: Node, _ key: String) -> String? {
        guard let scalar = node.scalar else {
            mistake("\"\(key)\" has a value of the wrong type", hint: "Give one text", key, node)
            return nil
        }
        guard node.null == nil, !scalar.string.isEmpty else {
            mistake("\"\(key)\" has no value", hint: "Give one, or leave the key out", key, node)
            return nil
        }
        return scalar.string
    }

    /// The texts of a list, or one text.
    private mutating func list(_ node: Node, _ key: String) -> [String] {
        guard let sequence = node.sequence else { return text(node, key).map { [$0] } ?? [] }
        return sequence.compactMap { text($0, key) }
    }

    private mutating func path(_ node: Node, _ key: String) -> String? { text(node, key).map { resolved($0) } }

    /// Returns `path` so that it begins at the directory of the file.
    ///
    /// - Parameter isLibrary: True for a library, which the system finds when it is a name without a directory.
    private func resolved(_ path: String, isLibrary: Bool = false) -> String {
        if isLibrary, !path.contains("/") { return path }
        guard !directory.isEmpty, !path.hasPrefix("/"), !path.hasPrefix(Credentials.prefix) else { return path }
        return directory + "/" + path
    }

    private mutating func address(_ node: Node, _ key: String) -> ListenAddress? {
        parsed(
            node, key, { ListenAddress($0) },
            or: { _ in ("\"\(key)\" is not HOST:PORT", "Give an address of this machine and a port: 127.0.0.1:7707") })
    }

    private mutating func count(_ node: Node, _ key: String) -> Int? {
        parsed(
            node, key, { Int($0).flatMap { Configuration.countRange.contains($0) ? $0 : nil } },
            or: { _ in ("\"\(key)\" is no number that it can be", "Give a number from 1 to 1 000 000") })
    }

    private mutating func span(_ node: Node, _ key: String) -> TimeSpan? {
        parsed(
            node, key, { TimeSpan($0) }, or: { _ in ("\"\(key)\" is no length of time", "Give \(TimeSpan.form)") })
    }

    private mutating func flush(_ node: Node, _ key: String) -> TimeSpan? {
        parsed(
            node, key, { text in TimeSpan(text).flatMap { $0.isFlushTime ? $0 : nil } },
            or: { _ in ("\"\(key)\" is no time up to 60s", "Give \(TimeSpan.form)") })
    }

    private mutating func bandwidth(_ node: Node, _ key: String) -> Bandwidth? {
        parsed(node, key, { Bandwidth($0) }, or: { _ in ("\"\(key)\" is no rate", "Give \(Bandwidth.form)") })
    }

    /// One or more digests of public keys, in the form of libcurl.
    private mutating func pin(_ node: Node, _ key: String) -> String? {
        parsed(
            node, key,
            { text in
                let prefix = "sha256//"
                let parts = text.split(separator: ";", omittingEmptySubsequences: false)
                let areDigests = parts.allSatisfy { part in
                    part.hasPrefix(prefix)
                        && Data(base64Encoded: String(part.dropFirst(prefix.count)))?.count == 32
                }
                return areDigests ? text : nil
            },
            or: { _ in
                (
                    "\"\(key)\" is no digest of a public key",
                    "Give sha256// and the base64 of the SHA-256 of the key; `;` separates several"
                )
            })
    }

    /// Reads one of a few words.
    ///
    /// - Parameters:
    ///   - name: What the word is, for a message: `log level`.
    ///   - all: What all of them are: `levels`.
    private mutating func choice<T: RawRepresentable<String> & CaseIterable>(
        _ node: Node, _ key: String, _ name: String, of all: String
    ) -> T? {
        let names = T.allCases.map(\.rawValue).joined(separator: ", ")
        return parsed(
            node, key, { T(rawValue: $0) }, or: { ("unknown \(name) \"\($0)\"", "The \(all) are: \(names)") })
    }

    /// Reads a text that means a value.
    ///
    /// - Parameter problem: The sentence and the hint for a text that means none.
    private mutating func parsed<T>(
        _ node: Node, _ key: String, _ parse: (String) -> T?, or problem: (String) -> (sentence: String, hint: String)
    ) -> T? {
        guard let text = text(node, key) else { return nil }
        if let value = parse(text) { return value }
        let (sentence, hint) = problem(text)
        mistake(sentence, hint: hint, key, node)
        return nil
    }

    private mutating func unknown(_ name: Node, allowed: [String]) {
        let text = name.scalar?.string ?? ""
        mistake(
            "unknown key \"\(text)\"", hint: "The keys are: " + allowed.joined(separator: ", "), text, name)
    }

    private mutating func mistake(_ message: String, hint: String, _ key: String, _ node: Node) {
        mistakes.append(ConfigurationMistake(message, hint: hint, key: key, at: node.place))
    }
}

extension Node {
    fileprivate var place: ConfigurationPlace? { mark.map { ConfigurationPlace($0) } }
}

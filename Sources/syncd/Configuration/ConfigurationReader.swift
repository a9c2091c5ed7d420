import Foundation
import Logging
import Sync
import Yams

/// Turns the nodes of a document into settings, and collects every mistake instead of stopping at the first.
struct ConfigurationReader {
    /// The directory at which relative paths begin; empty for the working directory.
    let directory: String
    private(set) var configuration = Configuration()
    private(set) var mistakes: [ConfigurationMistake] = []

    init(directory: String) { self.directory = directory }

    mutating func read(_ keys: Node.Mapping) {
        for (name, value) in keys {
            guard let key = name.scalar.flatMap({ ConfigurationKey(rawValue: $0.string) }) else {
                unknown(name, allowed: ConfigurationKey.allCases.map(\.rawValue))
                continue
            }
            configuration.places[key] = name.place
            read(key, value)
        }
    }

    private mutating func read(_ key: ConfigurationKey, _ value: Node) {
        let name = key.rawValue
        switch key {
        case .database: configuration.database = path(value, name)
        case .listen: configuration.listen = address(value, name)
        case .tokenFile: configuration.tokenFile = path(value, name)
        case .tokens: configuration.tokens = path(value, name)
        case .peers: readPeers(value)
        case .tlsCertificate: configuration.tlsCertificate = path(value, name)
        case .tlsKey: configuration.tlsKey = path(value, name)
        case .tlsAuthority: configuration.tlsAuthority = path(value, name)
        case .logLevel: configuration.logLevel = level(value, name)
        case .logFormat: configuration.logFormat = format(value, name)
        case .conflictDays: configuration.conflictDays = count(value, name)
        case .conflictsPerRow: configuration.conflictsPerRow = count(value, name)
        case .keep: configuration.keep = span(value, name)
        case .lease: configuration.lease = span(value, name)
        case .onConflict: configuration.onConflict = text(value, name)
        case .onHeld: configuration.onHeld = text(value, name)
        case .onMismatch: configuration.onMismatch = text(value, name)
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
            case .direction: peer.direction = direction(value, key.rawValue)
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

    private mutating func path(_ node: Node, _ key: String) -> String? { text(node, key).map(resolved) }

    /// Returns `path` so that it begins at the directory of the file.
    private func resolved(_ path: String) -> String {
        guard !directory.isEmpty, !path.hasPrefix("/"), !path.hasPrefix(Credentials.prefix) else { return path }
        return directory + "/" + path
    }

    private mutating func address(_ node: Node, _ key: String) -> ListenAddress? {
        guard let text = text(node, key) else { return nil }
        guard let address = ListenAddress(text) else {
            mistake(
                "\"\(key)\" is not HOST:PORT", hint: "Give an address of this machine and a port: 127.0.0.1:7707", key,
                node)
            return nil
        }
        return address
    }

    private mutating func level(_ node: Node, _ key: String) -> Logger.Level? {
        guard let text = text(node, key) else { return nil }
        guard let level = Logger.Level(rawValue: text) else {
            mistake(
                "unknown log level \"\(text)\"",
                hint: "The levels are: " + Logger.Level.allCases.map(\.rawValue).joined(separator: ", "), key, node)
            return nil
        }
        return level
    }

    private mutating func direction(_ node: Node, _ key: String) -> SyncDirection? {
        guard let text = text(node, key) else { return nil }
        guard let direction = SyncDirection(rawValue: text) else {
            mistake(
                "unknown direction \"\(text)\"",
                hint: "The directions are: " + SyncDirection.allCases.map(\.rawValue).joined(separator: ", "), key, node
            )
            return nil
        }
        return direction
    }

    private mutating func format(_ node: Node, _ key: String) -> LogFormat? {
        guard let text = text(node, key) else { return nil }
        guard let format = LogFormat(rawValue: text) else {
            mistake(
                "unknown log format \"\(text)\"",
                hint: "The formats are: " + LogFormat.allCases.map(\.rawValue).joined(separator: ", "), key, node)
            return nil
        }
        return format
    }

    private mutating func count(_ node: Node, _ key: String) -> Int? {
        guard let text = text(node, key) else { return nil }
        guard let number = Int(text), Configuration.countRange.contains(number) else {
            mistake(
                "\"\(key)\" is no number that it can be", hint: "Give a number from 1 to 1 000 000", key, node)
            return nil
        }
        return number
    }

    private mutating func span(_ node: Node, _ key: String) -> TimeSpan? {
        guard let text = text(node, key) else { return nil }
        guard let span = TimeSpan(text) else {
            mistake("\"\(key)\" is no length of time", hint: "Give \(TimeSpan.form)", key, node)
            return nil
        }
        return span
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

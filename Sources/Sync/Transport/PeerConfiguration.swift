import FoundationEssentials

/// A secret that proves to a peer who asks. It prints as a placeholder, so that it cannot get into a log by accident.
public struct BearerToken: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    let value: String

    /// - Throws: ``SyncError/Code/configuration`` for an empty token and for one that is not visible ASCII
    ///   (RFC 6750, section 2.1).
    public init(_ value: String) throws(SyncError) {
        guard !value.isEmpty, value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw SyncError(
                .configuration, "The token is empty or has characters that a token cannot have",
                hint: "Use letters, digits and punctuation on one line.")
        }
        self.value = value
    }

    public var description: String { "<token>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The files of TLS, in PEM; nil means the system's.
public struct TLSFiles: Sendable, Hashable {
    /// The certificate authorities to trust, instead of the system's.
    public var authorities: String?

    /// The client's certificate and its key.
    public var certificate: String?
    public var key: String?

    public init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
        self.authorities = authorities
        self.certificate = certificate
        self.key = key
    }
}

/// Where a peer is, and how to prove to it who asks.
public struct PeerConfiguration: Sendable, Hashable {
    public enum Address: Sendable, Hashable {
        /// `http://host:port` or `https://host:port`, without a trailing slash.
        case http(String)
        /// Another replica's file on this machine.
        case file(String)
    }

    public let address: Address
    public var token: BearerToken?
    public var tls: TLSFiles

    /// - Parameter peer: An `http://` or `https://` address without user info, path, query and fragment, or the path of
    ///   a file.
    /// - Throws: ``SyncError/Code/configuration``; the message never repeats user info.
    public init(_ peer: String, token: BearerToken? = nil, tls: TLSFiles = TLSFiles()) throws(SyncError) {
        self.token = token
        self.tls = tls
        guard peer.contains("://") else {
            guard !peer.isEmpty, !peer.utf8.contains(0) else {
                throw SyncError(.configuration, "The peer is an empty address")
            }
            address = .file(peer)
            return
        }
        // The host as it is written: decoded, %0A in it would be a line's end in addresses and messages. Only the zone of an IPv6
        // address needs a percent sign (RFC 6874).
        guard let parts = URLComponents(string: peer), let scheme = parts.scheme?.lowercased(),
            let host = parts.encodedHost, !host.isEmpty, host.hasPrefix("[") || !host.contains("%")
        else {
            throw SyncError(
                .configuration, "The peer's address cannot be read", hint: "It looks like https://host:7707.")
        }
        guard scheme == "http" || scheme == "https" else {
            throw SyncError(
                .configuration, "The peer's address has the scheme \(scheme)",
                hint: "Use http:// or https://, or the path of a file.")
        }
        guard parts.user == nil, parts.password == nil else {
            throw SyncError(
                .configuration, "The address of the peer at \(host) holds user info",
                hint: "Secrets in addresses get into logs; use --token-file.")
        }
        guard parts.path.isEmpty || parts.path == "/", parts.query == nil, parts.fragment == nil else {
            throw SyncError(
                .configuration, "The address of the peer at \(host) has more than a host and a port",
                hint: "Give it as \(scheme)://\(host)\(parts.port.map { ":\($0)" } ?? "").")
        }
        address = .http("\(scheme)://\(host)\(parts.port.map { ":\($0)" } ?? "")")
    }

    /// The address, for messages and status.
    public var name: String {
        switch address {
        case .http(let url): url
        case .file(let path): path
        }
    }
}

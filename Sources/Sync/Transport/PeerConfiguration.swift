import Foundation

/// The address of a peer, and what authenticates this replica to it.
public struct PeerConfiguration: Sendable, Hashable {
    /// The kinds of addresses.
    public enum Address: Sendable, Hashable {
        /// `http://host:port` or `https://host:port`, without a trailing slash.
        case http(String)
        /// Another replica's file on this machine.
        case file(String)
        /// An archive on an object store.
        case archive(StoreAddress)
    }

    /// The address of the peer.
    public let address: Address
    /// The token that authenticates this replica to the peer; nil for a peer that requires none. Not used for
    /// a file.
    public var token: BearerToken?
    /// The TLS files, for `https://`.
    public var tls: TLSFiles
    /// Which changes are exchanged while the peer is followed. A single exchange goes both ways.
    public var direction = SyncDirection.both
    /// The most bytes a second, each way, of each request to the peer, 64 000 or more; nil for no bound. Without
    /// effect on a peer that is no server: a file or a directory.
    public var bytesPerSecond: Int?

    /// - Parameters:
    ///   - peer: An `http://` or `https://` address without user info, path, query and fragment; the
    ///     path of a file; or the address of an archive, `file:///directory` or
    ///     `s3://bucket/prefix`.
    ///   - token: The token for the peer; nil for none.
    ///   - tls: The TLS files, for `https://`.
    ///   - environment: The variables of the process, of which an address of S3 uses some.
    /// - Throws: ``SyncError/Code/configuration``; the message never repeats user info.
    public init(
        _ peer: String, token: BearerToken? = nil, tls: TLSFiles = TLSFiles(),
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(SyncError) {
        self.token = token
        self.tls = tls
        guard peer.contains("://") else {
            guard !peer.isEmpty, !peer.utf8.contains(0) else {
                throw SyncError(.configuration, "The peer is an empty address")
            }
            address = .file(peer)
            return
        }
        if let store = try StoreAddress(peer, environment: environment) {
            address = .archive(store)
            return
        }
        // The host is used as written. Decoded, %0A in it would end a line in addresses and messages. Only
        // the zone of an IPv6 address needs a percent sign (RFC 6874).
        guard let parts = URLComponents(string: peer), let scheme = parts.scheme?.lowercased(),
            let host = parts.encodedHost, !host.isEmpty, host.hasPrefix("[") || !host.contains("%")
        else {
            throw SyncError(
                .configuration, "The peer's address cannot be read", hint: "It looks like https://host:7707.")
        }
        guard scheme == "http" || scheme == "https" else {
            throw SyncError(
                .configuration, "The peer's address has the scheme \(scheme)",
                hint: "Use http:// or https://, file:/// or s3:// for an archive, or the path of a file.")
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

    /// A warning when the token would travel unencrypted over a network, by plain HTTP to another machine;
    /// nil otherwise.
    package var exposure: String? {
        guard token != nil, case .http(let url) = address, url.hasPrefix("http://") else { return nil }
        let place = url.dropFirst("http://".count)
        let host = place.hasPrefix("[") ? place.prefix { $0 != "]" } : place.prefix { $0 != ":" }
        let parts = host.split(separator: ".").map { UInt8($0) }
        let isLoopback =
            host.lowercased() == "localhost" || host == "[::1"
            || parts.count == 4 && parts.first == 127 && !parts.contains(nil)
        return isLoopback ? nil : "the token for \(url) travels unencrypted: use https:// or a tunnel"
    }

    /// The address, for messages and status.
    public var name: String {
        switch address {
        case .http(let url): url
        case .file(let path): path
        case .archive(let store): store.name
        }
    }
}

/// Whom a request goes to, as far as messages about failures need to know.
struct CurlParty: Sendable {
    enum Kind: Sendable {
        /// A daemon of Tandem.
        case replica
        /// A server that keeps objects.
        case store
    }

    /// The name in messages; holds no secret.
    let name: String
    let kind: Kind
    /// True when the connection has no TLS.
    let isPlain: Bool

    /// What to do about an answer that is larger than any right one.
    var sizeHint: String {
        switch kind {
        case .replica: "A Tandem peer never does; check the address."
        case .store: "Is that object, or that server, another one than Tandem's? Check the address."
        }
    }

    /// What to do when nobody listens.
    var connectionHint: String {
        switch kind {
        case .replica: "Is syncd running there, on that port, and not behind a firewall?"
        case .store: "Is the server running there, on that port, and not behind a firewall?"
        }
    }

    /// What to do when the answer to a request without TLS looks like TLS.
    var plainHint: String {
        switch kind {
        case .replica: "Does it speak TLS on that port? Then its address begins with https://."
        case .store: "Does it speak TLS on that port? Then the address has endpoint=https://HOST:PORT."
        }
    }

    /// What to do when no TLS connection can be made.
    var secureHint: String {
        switch kind {
        case .replica: "Does the peer speak TLS on that port, or is it http:// there?"
        case .store: "Does the server speak TLS on that port? Otherwise the address has endpoint=http://HOST:PORT."
        }
    }
}

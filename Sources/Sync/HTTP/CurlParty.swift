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
}

/// The TLS files, in PEM, and the key that the server must have; nil means the system's, and any.
public struct TLSFiles: Sendable, Hashable {
    /// The certificate authorities to trust, instead of the system's.
    public var authorities: String?

    /// The client's certificate; nil for none.
    public var certificate: String?
    /// The key of that certificate.
    public var key: String?
    /// The server's public key, as `sha256//` and the base64 of its SHA-256, or several of them with `;` between. The
    /// server's certificate must be trusted as well. nil for any key.
    public var serverKey: String?

    /// Names the files. They are read at each connection, which fails when one of them cannot be read.
    ///
    /// - Parameters:
    ///   - authorities: The certificate authorities to trust, instead of the system's.
    ///   - certificate: The client's certificate.
    ///   - key: The key of that certificate.
    public init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
        self.authorities = authorities
        self.certificate = certificate
        self.key = key
    }
}

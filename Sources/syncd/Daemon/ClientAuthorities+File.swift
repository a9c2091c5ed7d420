import NIOSSL

extension ClientAuthorities {
    /// Reads the file of `--tls-client-ca`.
    ///
    /// - Throws: ``Failure`` when it cannot be read, or holds no certificate.
    static func load(from path: String) throws -> ClientAuthorities {
        try TrustedAuthorities.check(path, option: "--tls-client-ca")
        guard let chain = try? NIOSSLCertificate.fromPEMFile(path),
            let certificates = try? chain.map({ try $0.toDERBytes() }),
            let authorities = ClientAuthorities(certificates)
        else {
            throw Failure(
                "The file of authorities \(path) holds no certificate that can be used",
                hint: "--tls-client-ca names a PEM file with the certificates of the authorities of clients")
        }
        return authorities
    }
}

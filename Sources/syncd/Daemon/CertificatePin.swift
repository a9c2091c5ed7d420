import Sync

/// What tells one client certificate from others of the same authority.
enum CertificatePin: Sendable, Hashable {
    /// A name for which the certificate was issued. It stays when the certificate is renewed.
    case name(String)
    /// The SHA-256 of the certificate.
    case fingerprint([UInt8])

    /// With what words that pin a certificate begin.
    static let prefix = "cert-"

    private static let namePrefix = "cert-name:"
    private static let fingerprintPrefix = "cert-sha256:"

    /// - Parameter word: `cert-name:NAME` or `cert-sha256:FINGERPRINT`, with or without colons between bytes.
    /// - Returns: nil for any other word.
    init?(_ word: Substring) {
        if word.hasPrefix(CertificatePin.namePrefix) {
            let name = word.dropFirst(CertificatePin.namePrefix.count)
            // libcrypto takes a name that begins with a full stop for all names that end in it.
            guard AccessTokens.isName(name), !name.hasPrefix(".") else { return nil }
            self = .name(String(name))
        } else if word.hasPrefix(CertificatePin.fingerprintPrefix) {
            let digits = word.dropFirst(CertificatePin.fingerprintPrefix.count).filter { $0 != ":" }
            guard let bytes = AccessTokens.bytes(hexadecimal: digits) else { return nil }
            self = .fingerprint(bytes)
        } else {
            return nil
        }
    }

    func matches(_ certificate: ClientCertificate) -> Bool {
        switch self {
        case .name(let name): certificate.isFor(name)
        case .fingerprint(let bytes): SHA256.areEqual(bytes, certificate.fingerprint)
        }
    }
}

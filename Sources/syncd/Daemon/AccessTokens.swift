import Journal
import Sync

/// What a token may be used for.
enum TokenScope: String, Sendable, Hashable, CaseIterable {
    /// The protocol between replicas. It reads and writes every row.
    case replicate
    /// Of that, what reads: the changes and the content of this replica, and copies of it.
    case pull
    /// Of that, what writes: sending changes to this replica.
    case push
    /// Status, metrics, the page and waiting: what changes nothing.
    case read
    /// What an operator decides: reloading and the ledger. It includes ``read``.
    case admin
}

/// The tokens and the client certificates that a daemon accepts. Of tokens it knows the digests only.
struct AccessTokens: Sendable {
    /// One token, one certificate, or a token that counts with a certificate only.
    struct Entry: Sendable {
        /// Whose it is. Two entries may have one name while tokens or certificates are exchanged.
        let name: String
        let scopes: Set<TokenScope>
        /// The tables that it is limited to; nil for all.
        let tables: TableScope?
        /// The SHA-256 of the token; nil when the certificate is enough.
        let digest: [UInt8]?
        /// The certificate that the caller must have; nil when the token is enough.
        let certificate: CertificatePin?

        /// - Parameter scopes: As they were given; `admin` brings `read` with it.
        init(
            name: String, scopes: Set<TokenScope>, digest: [UInt8]?, certificate: CertificatePin? = nil,
            tables: TableScope? = nil
        ) {
            self.tables = tables
            self.name = name
            self.scopes = scopes.contains(.admin) ? scopes.union([.read]) : scopes
            self.digest = digest
            self.certificate = certificate
        }

        /// True when a reader can sign in with it: a session has no certificate.
        var signsIn: Bool { digest != nil && certificate == nil }

        /// What it lets its caller do.
        var grant: AccessGrant { AccessGrant(scopes, tables) }

        fileprivate func hasDigest(_ candidate: [UInt8]) -> Bool {
            digest.map { SHA256.areEqual($0, candidate) } ?? false
        }
    }

    let entries: [Entry]

    init(_ entries: [Entry] = []) { self.entries = entries }

    var isEmpty: Bool { entries.isEmpty }

    /// What the caller with this token alone may do; nil when no token is the given one.
    func grant(of candidate: some StringProtocol) -> AccessGrant? { entry(of: candidate)?.grant }

    /// True when an entry needs a certificate, for which the listener has to ask.
    var haveCertificates: Bool { entries.contains { $0.certificate != nil } }

    /// The entry whose token is the given one, and that needs no certificate; nil when there is none.
    ///
    /// It takes the same time for all candidates of one length: each of the digests is compared, and all of
    /// their bytes.
    func entry(of candidate: some StringProtocol) -> Entry? { entry(of: candidate, certificate: nil) }

    /// What a caller may do by its token, by its certificate, or by both together; nil when neither is
    /// accepted.
    ///
    /// - Parameters:
    ///   - token: nil for a caller without one.
    ///   - certificate: A certificate that was verified; nil for none.
    func grant(token: (some StringProtocol)?, certificate: ClientCertificate?) -> AccessGrant? {
        var grant = token.flatMap { entry(of: $0, certificate: certificate)?.grant }
        if let certificate {
            for entry in entries where entry.digest == nil && entry.certificate?.matches(certificate) == true {
                grant = (grant ?? AccessGrant()).union(entry.grant)
            }
        }
        return grant
    }

    /// A token may have two entries: one for each of two certificates.
    private func entry(of candidate: some StringProtocol, certificate: ClientCertificate?) -> Entry? {
        let digest = SHA256.digest(of: Array(candidate.utf8))
        var found: Entry?
        for entry in entries where entry.hasDigest(digest) {
            let isAccepted = entry.certificate.map { pin in certificate.map { pin.matches($0) } ?? false } ?? true
            if isAccepted { found = found ?? entry }
        }
        return found
    }
}

extension AccessTokens.Entry: Equatable {
    static func == (first: Self, second: Self) -> Bool {
        first.name == second.name && first.scopes == second.scopes && first.digest == second.digest
            && first.certificate == second.certificate && first.tables == second.tables
    }
}

extension AccessTokens: Equatable {}

extension AccessTokens.Entry: CustomStringConvertible, CustomDebugStringConvertible {
    /// Without the digest: a dump of an error must not have it.
    var description: String { "\(name): \(scopes.map(\.rawValue).sorted().joined(separator: ","))" }
    var debugDescription: String { description }
}

extension Token {
    /// The token of `--token-file` as one that callers may use: between replicas, and for reading.
    var entry: AccessTokens.Entry {
        AccessTokens.Entry(name: "token-file", scopes: [.replicate, .read], digest: digest)
    }
}

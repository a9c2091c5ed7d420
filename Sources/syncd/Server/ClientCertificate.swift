import COpenSSL
import Foundation
import Sync

/// The certificate that a caller has shown in its TLS handshake, by which it has proved to have the key.
///
/// Unchecked: libcrypto counts references to an `X509` atomically, and nothing changes it after
/// the initializer.
final class ClientCertificate: @unchecked Sendable {
    /// The SHA-256 of its DER form.
    let fingerprint: [UInt8]
    fileprivate let certificate: OpaquePointer

    /// - Returns: nil for bytes that are no certificate in DER.
    init?(der: [UInt8]) {
        let parsed = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var start = buffer.baseAddress
            return d2i_X509(nil, &start, buffer.count)
        }
        ERR_clear_error()
        guard let parsed else { return nil }
        certificate = parsed
        fingerprint = SHA256.digest(of: der)
    }

    deinit { X509_free(certificate) }

    /// True when it was issued for `name`: a DNS name among its alternative names, or, without any, its common
    /// name (RFC 6125, 6.4.4). A wildcard stands for no name.
    func isFor(_ name: String) -> Bool {
        X509_check_host(certificate, name, name.utf8.count, UInt32(X509_CHECK_FLAG_NO_WILDCARDS), nil) == 1
    }
}

/// The authorities whose client certificates count, as they were when the file was read.
///
/// Unchecked: libcrypto locks a store while it looks for an authority in it, and nothing changes it after the
/// initializer.
final class ClientAuthorities: @unchecked Sendable {
    /// Their certificates in DER.
    let certificates: [[UInt8]]
    private let store: OpaquePointer

    /// - Returns: nil when one of the certificates cannot be used.
    init?(_ certificates: [[UInt8]]) {
        guard !certificates.isEmpty, let store = X509_STORE_new() else { return nil }
        self.certificates = certificates
        self.store = store
        for der in certificates {
            guard let authority = ClientCertificate(der: der), X509_STORE_add_cert(store, authority.certificate) == 1
            else { return nil }
        }
    }

    deinit { X509_STORE_free(store) }

    /// Why a certificate does not count at this moment; nil for one that does.
    func refusal(of certificate: ClientCertificate) -> CertificateRefusal? {
        CertificateRefusal(code: tandem_verify_client(store, certificate.certificate))
    }
}

extension ClientAuthorities: Equatable {
    static func == (first: ClientAuthorities, second: ClientAuthorities) -> Bool {
        first.certificates == second.certificates
    }
}

/// Why a client certificate does not count.
struct CertificateRefusal: Sendable, Hashable {
    /// Without a full stop.
    let message: String
    let hint: String

    /// - Returns: nil for the code of success.
    init?(code: Int32) {
        switch code {
        case X509_V_OK: return nil
        case X509_V_ERR_CERT_HAS_EXPIRED:
            message = "the client certificate, or that of its authority, has expired"
            hint = "Get a new certificate, and name its files in tls-cert and tls-key"
        case X509_V_ERR_CERT_NOT_YET_VALID:
            message = "the client certificate, or that of its authority, is not valid yet"
            hint = "Check the clocks of both machines, and the begin of its validity"
        case X509_V_ERR_INVALID_PURPOSE:
            message = "the client certificate is not for clients"
            hint = "Its extended key usage must have clientAuth, or be left out"
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_SIGNATURE_FAILURE:
            message = "the client certificate is not of an authority that the daemon trusts"
            hint = "The daemon's --tls-client-ca must have the authority that issued it"
        default:
            let reason = String(cString: X509_verify_cert_error_string(Int(code)))
            message = "the client certificate cannot be verified: \(reason)"
            hint = "Get a certificate of an authority in the daemon's --tls-client-ca"
        }
    }
}

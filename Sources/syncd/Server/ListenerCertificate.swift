import Foundation
import HummingbirdTLS
import NIOSSL

/// The listener's certificate and key.
struct ListenerCertificate: Sendable {
    /// The PEM file with the certificate, followed by those of the intermediate authorities.
    let certificate: String
    /// The PEM file with its private key.
    let key: String

    /// Reads the files and checks that the certificate and the key belong together.
    ///
    /// - Throws: ``Failure`` that names the file that cannot be used.
    func configuration() throws -> TLSConfiguration {
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMFile(certificate)
        } catch {
            throw Failure(
                "The certificate \(certificate) cannot be used",
                hint: "It must be a readable PEM file with the certificate of this machine first")
        }
        guard !chain.isEmpty else {
            throw Failure(
                "The certificate file \(certificate) holds no certificate",
                hint: "It must be a PEM file with the certificate of this machine first")
        }
        let privateKey: NIOSSLPrivateKey
        do {
            privateKey = try NIOSSLPrivateKey(file: key, format: .pem)
        } catch {
            throw Failure(
                "The private key \(key) cannot be used", hint: "It must be a readable PEM file without a passphrase")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(privateKey))
        configuration.minimumTLSVersion = .tlsv12
        do {
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw Failure(
                "The certificate \(certificate) and the private key \(key) do not fit together",
                hint: "The key must be the one for which the certificate was issued")
        }
        return configuration
    }
}

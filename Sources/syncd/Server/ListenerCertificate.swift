import Foundation
import HummingbirdTLS
import NIOCore
import NIOSSL

/// The listener's certificate and key, as they were when the files were read.
struct ListenerCertificate: Sendable, Hashable {
    private let chain: [NIOSSLCertificate]
    private let key: NIOSSLPrivateKey

    /// Reads the files and checks that the certificate and the key belong together.
    ///
    /// - Parameters:
    ///   - certificate: The PEM file with the certificate, followed by those of the intermediate authorities.
    ///   - key: The PEM file with its private key.
    /// - Throws: ``Failure`` that names the file that cannot be used.
    init(certificate: String, key: String) throws {
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
        do {
            self.key = try NIOSSLPrivateKey(file: key, format: .pem)
        } catch {
            throw Failure(
                "The private key \(key) cannot be used", hint: "It must be a readable PEM file without a passphrase")
        }
        do {
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw Failure(
                "The certificate \(certificate) and the private key \(key) do not fit together",
                hint: "The key must be the one for which the certificate was issued")
        }
    }

    private var configuration: TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        return configuration
    }

    /// Returns a configuration of the listener that asks at each handshake for the certificate of that time.
    ///
    /// - Parameters:
    ///   - asksClients: True to ask callers for a certificate. A handshake without one succeeds, and so does one with
    ///     any: ``AccessGate`` decides about each request, and can say what is wrong.
    ///   - current: Returns nil to use this certificate.
    func configuration(
        asksClients: Bool = false, current: @escaping @Sendable () -> ListenerCertificate?
    ) -> TLSConfiguration {
        var configuration = configuration
        if asksClients {
            configuration.certificateVerification = .optionalVerification
            // Nothing is verified with it, and the default would read the system's.
            configuration.trustRoots = .certificates(chain)
        }
        configuration.sslContextCallback = { _, promise in
            var override = NIOSSLContextConfigurationOverride.noChanges
            if let certificate = current() {
                override.certificateChain = certificate.chain.map { .certificate($0) }
                override.privateKey = .privateKey(certificate.key)
            }
            promise.succeed(override)
        }
        return configuration
    }
}

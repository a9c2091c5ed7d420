import ArgumentParser
import Foundation
import Logging
import Sync

/// The database file that almost every command takes.
struct DatabaseArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The SQLite file.", valueName: "db"), completion: .file())
    var path: String

    @OptionGroup var extensions: ExtensionOption
}

/// The token and the TLS files for a peer.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file with the token that the peer asks for; only its owner may have access to it.", valueName: "file"),
        completion: .file())
    var tokenFile: String?

    @Option(
        name: .customLong("tls-ca"),
        help: ArgumentHelp(
            "A PEM file of the authorities to trust for https peers, instead of the system's.", valueName: "file"),
        completion: .file())
    var tlsAuthority: String?

    @Option(
        name: .customLong("tls-cert"),
        help: ArgumentHelp(
            "A PEM file with the client certificate that the peer asks for; with --tls-key.", valueName: "file"),
        completion: .file())
    var tlsCertificate: String?

    @Option(
        name: .customLong("tls-key"), help: ArgumentHelp("The PEM file with its private key.", valueName: "file"),
        completion: .file())
    var tlsKey: String?

    /// - Throws: ``Failure`` when the token file or a TLS file cannot be used; `SyncError` for an
    ///   address that no peer can have.
    func peer(_ address: String) throws -> PeerConfiguration {
        try PeerConfiguration.checkScheme(of: address)
        let token = try tokenFile.map { try BearerToken(try Token.load(from: $0).secret) }
        if let tlsAuthority { try TrustedAuthorities.check(tlsAuthority) }
        switch (tlsCertificate, tlsKey) {
        case (nil, nil): break
        case (let certificate?, let key?): _ = try ListenerCertificate(certificate: certificate, key: key)
        default: throw Failure("Only one of --tls-cert and --tls-key is given", hint: "Give both or none")
        }
        let files = TLSFiles(authorities: tlsAuthority, certificate: tlsCertificate, key: tlsKey)
        return try PeerConfiguration(address, token: token, tls: files)
    }
}

extension PeerConfiguration {
    /// - Throws: ``Failure`` for a host and a port without a scheme, which would otherwise count as the path
    ///   of a file.
    static func checkScheme(of address: String) throws {
        guard ListenAddress(address) != nil, access(address, F_OK) != 0 else { return }
        throw Failure("There is no file at \(address)", hint: "Put http:// or https:// before the address of a daemon")
    }
}

extension ExitCode {
    /// Nothing failed, and something does not replicate: `check` and `verify` say what.
    static let incomplete = ExitCode(3)
}

// swift-format-ignore: AvoidRetroactiveConformances
extension Logger.Level: @retroactive ExpressibleByArgument {}

import ArgumentParser
import Foundation
import GRDB
import Journal
import Logging
import Sync

/// The database file that almost every command takes.
struct DatabaseArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The SQLite file.", valueName: "db"), completion: .file())
    var path: String
}

/// The token and the TLS authorities for a peer.
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

    /// - Throws: ``Failure`` when the token file or the authorities cannot be used; `SyncError` for an
    ///   address that no peer can have.
    func peer(_ address: String) throws -> PeerConfiguration {
        try PeerConfiguration.checkScheme(of: address)
        let token = try tokenFile.map { try BearerToken(try Token.load(from: $0).secret) }
        return try PeerConfiguration(address, token: token, tls: try TrustedAuthorities.files(tlsAuthority))
    }
}

extension PeerConfiguration {
    /// - Throws: ``Failure`` for a host and a port without a scheme, which would otherwise count as the path
    ///   of a file.
    static func checkScheme(of address: String) throws {
        guard ListenAddress(address) != nil, access(address, F_OK) != 0 else { return }
        throw Failure("there is no file at \(address)", hint: "put http:// or https:// before the address of a daemon")
    }
}

// swift-format-ignore: AvoidRetroactiveConformances
extension Logger.Level: @retroactive ExpressibleByArgument {}

/// A logger to standard error. Tokens and row values are never logged.
func makeLogger(level: Logger.Level) -> Logger {
    var logger = Logger(label: "syncd", factory: { StreamLogHandler.standardError(label: $0) })
    logger.logLevel = level
    return logger
}

extension Replica {
    /// Opens the file for a command that only reads. It writes nothing, and ``closeReader()`` leaves no
    /// trace.
    static func openReader(at path: String) throws -> Replica {
        var options = Options()
        options.maximumReaders = 1
        return try open(at: path, options: options)
    }

    /// Returns the name of a table as the journal spells it.
    ///
    /// - Throws: ``Failure`` for a table that the journal does not know.
    func knownTable(_ name: String) throws -> String {
        let names = try read { db in Set(try ShapeRegistry(db).entries.values.map(\.shape.table)).sorted() }
        let folded = SQLText.foldedName(name)
        guard let known = names.first(where: { SQLText.foldedName($0) == folded }) else {
            throw Failure(
                "the journal knows no table named \(name)",
                hint: names.isEmpty
                    ? "nothing is tracked in this file" : "it knows: \(names.prefix(20).joined(separator: ", "))")
        }
        return known
    }

    /// Closes the connections without a checkpoint: checkpointing is the task of programs that write.
    func closeReader() throws { try connections.close() }
}

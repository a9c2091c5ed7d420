import ArgumentParser
import Foundation
import Logging
import Sync

/// Serves an archive to replicas.
struct HubCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hub",
        abstract: "Serve an archive to replicas, without a file, until SIGTERM or SIGINT.",
        discussion: """
            Replicas name a hub as a peer: `syncd run DB --peer http://host:port`. Changes go from one to the others at \
            once, and count as arrived when the archive holds them. Any number of hubs may serve one archive, and each may \
            end at any time. See docs/ARCHIVE.md.

            Prints one line with its address when it listens. On SIGHUP it reads its tokens and certificates again.

            Exit status: 0 when it was told to stop, 1 on failure, 64 wrong use.
            """)

    @Option(
        help: ArgumentHelp("The archive: file:///directory or s3://bucket/prefix.", valueName: "archive"))
    var store: String

    @Option(
        help: ArgumentHelp(
            "Where to listen; port 0 takes a free one (default: \(ListenAddress.standard)).", valueName: "host:port"))
    var listen: ListenAddress?

    @Option(
        name: .customLong("peer"), parsing: .singleValue,
        help: ArgumentHelp(
            "Another hub of the archive, http://host:port or https://host:port, whose news come at once; may be given several times.",
            valueName: "url"))
    var peers: [String] = []

    @Option(
        help: ArgumentHelp(
            "A file with the token that replicas must send, and that is sent to other hubs.", valueName: "file"),
        completion: .file())
    var tokenFile: String?

    @Option(
        help: ArgumentHelp(
            "A file with further tokens that callers may use, each with its scopes; see `syncd token`.",
            valueName: "file"),
        completion: .file())
    var tokens: String?

    @Option(
        name: .customLong("tls-cert"),
        help: ArgumentHelp(
            "A PEM file with the certificate of the listener, which then speaks HTTPS; with --tls-key.",
            valueName: "file"),
        completion: .file())
    var tlsCertificate: String?

    @Option(
        name: .customLong("tls-key"), help: ArgumentHelp("The PEM file with its private key.", valueName: "file"),
        completion: .file())
    var tlsKey: String?

    @Option(
        name: .customLong("tls-ca"),
        help: ArgumentHelp(
            "A PEM file of the authorities to trust for the server of a bucket and for other hubs, instead of the system's.",
            valueName: "file"),
        completion: .file())
    var tlsAuthority: String?

    @Option(
        name: .customLong("tls-client-ca"),
        help: ArgumentHelp(
            "A PEM file of the authorities whose client certificates count, as lines of --tokens say; with --tls-cert.",
            valueName: "file"),
        completion: .file())
    var tlsClientAuthority: String?

    @Option(
        help: ArgumentHelp(
            "How long changes gather before they are written, in milliseconds, 0 to 60000 (default: 250).",
            valueName: "ms"))
    var flush: Int64?

    @Option(
        help: ArgumentHelp(
            "Megabytes of changes that are kept in memory, 1 to 1000000; older ones are read from the archive again (default: 256).",
            valueName: "MB"))
    var memory: Int?

    @Option(
        help: ArgumentHelp(
            "How many requests a second one address may make, 1 to 1000000 (default: 1000).", valueName: "count"))
    var requestsPerSecond: Int?

    @Option(help: ArgumentHelp("How much to log to standard error (default: info).", valueName: "level"))
    var logLevel: Logger.Level?

    @Option(
        help: ArgumentHelp(
            "How to log: text for people, or json with one object a line (default: text).", valueName: "format"))
    var logFormat: LogFormat?

    func validate() throws {
        guard requestsPerSecond.map({ Configuration.countRange.contains($0) }) ?? true else {
            throw ValidationError("--requests-per-second is a number from 1 to 1000000.")
        }
        guard memory.map({ Configuration.countRange.contains($0) }) ?? true else {
            throw ValidationError("--memory is a number of megabytes from 1 to 1000000.")
        }
        guard flush.map({ (0...60_000).contains($0) }) ?? true else {
            throw ValidationError("--flush is a number of milliseconds from 0 to 60000.")
        }
    }

    func run() async throws {
        var flags = Configuration()
        // A hub has no file.
        flags.database = ""
        flags.listen = listen
        flags.peers = ([store] + peers).map { PeerSettings($0) }
        flags.tokenFile = tokenFile
        flags.tokens = tokens
        flags.tlsCertificate = tlsCertificate
        flags.tlsKey = tlsKey
        flags.tlsAuthority = tlsAuthority
        flags.tlsClientAuthority = tlsClientAuthority
        flags.requestsPerSecond = requestsPerSecond
        flags.logLevel = logLevel
        flags.logFormat = logFormat
        var limits = HubLimits()
        if let flush { limits.flushMilliseconds = flush }
        if let memory { limits.cacheBytes = memory * 1_000_000 }
        try await HubDaemon(ConfigurationSource(flags: flags, file: nil), hub: limits).run()
    }
}

import ArgumentParser
import Foundation
import Logging
import Sync

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Serve a replica to its peers, and follow them, until SIGTERM or SIGINT.",
        discussion: """
            Prints one line with its address when it listens. On SIGTERM or SIGINT it finishes the requests and exchanges \
            under way, within 10 seconds, and exits. On SIGHUP it reads its configuration, tokens and certificates again. \
            One daemon serves a file; a second one is refused. A configuration file may name several databases, each with \
            an address of its own.

            Exit status: 0 when it was told to stop, 1 on failure or when the file is moved or removed, 64 wrong use.
            """)

    @Argument(
        help: ArgumentHelp("The SQLite file; not needed when the configuration file names it.", valueName: "db"),
        completion: .file())
    var database: String?

    @Option(
        help: ArgumentHelp(
            "Where to listen; port 0 takes a free one (default: \(ListenAddress.standard)).", valueName: "host:port"))
    var listen: ListenAddress?

    @Option(
        name: .customLong("peer"), parsing: .singleValue,
        help: ArgumentHelp(
            "A peer to follow, http://host:port or https://host:port; may be given several times.", valueName: "url"))
    var peers: [String] = []

    @Option(
        help: ArgumentHelp(
            "A peer to clone the database from, with the token of --token-file, when there is no file yet.",
            valueName: "url"))
    var cloneFrom: String?

    @Option(
        help: ArgumentHelp(
            "A file with the same settings, in YAML or JSON, of one database or of several; a flag wins. `syncd config --example` prints one.",
            valueName: "file"),
        completion: .file())
    var config: String?

    @Option(
        help: ArgumentHelp(
            "A file with the token that peers must send, and that is sent to them.", valueName: "file"),
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
            "A PEM file of the authorities to trust for https peers, instead of the system's.", valueName: "file"),
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
            "The most bytes a second, each way, of each exchange with a peer, such as 250k or 2M (default: no limit).",
            valueName: "rate"))
    var bandwidth: Bandwidth?

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

    @Option(
        help: ArgumentHelp(
            "Days for which the ledger keeps conflicts, 1 to 1000000 (default: 90).", valueName: "days"))
    var conflictDays: Int?

    @Option(
        help: ArgumentHelp(
            "Conflicts of one row that the ledger keeps, 1 to 1000000 (default: 100).", valueName: "count"))
    var conflictsPerRow: Int?

    @Option(
        help: ArgumentHelp("How much of its history the journal keeps at least (default: 7d).", valueName: "time"))
    var keep: TimeSpan?

    @Option(
        help: ArgumentHelp(
            "How long a replica that is not heard of holds compaction of the journal back (default: 30d).",
            valueName: "time"))
    var lease: TimeSpan?

    @Option(
        help: ArgumentHelp(
            "Once a day, remove from the archives among the peers what is older and needed no more (default: never).",
            valueName: "time"))
    var collect: TimeSpan?

    @Option(
        help: ArgumentHelp(
            "How long changes gather before they are written to the archives among the peers, 0s to 60s (default: 1s). Archives are read no more often, nor more than once a second.",
            valueName: "time"))
    var archiveFlush: TimeSpan?

    @Option(
        help: ArgumentHelp(
            "Whether rows that a program wrote past the triggers become changes when a comparison with a peer finds them: automatic or manual (default: automatic).",
            valueName: "mode"))
    var recapture: RecaptureMode?

    @Option(
        help: ArgumentHelp(
            "A shell command to run when a conflict comes; it gets a line of JSON on its standard input.",
            valueName: "command"))
    var onConflict: String?

    @Option(help: ArgumentHelp("The same when there are more held rows than before.", valueName: "command"))
    var onHeld: String?

    @Option(help: ArgumentHelp("The same when the content differs from that of a peer.", valueName: "command"))
    var onMismatch: String?

    @OptionGroup var extensions: ExtensionOption

    @Option(
        help: ArgumentHelp(
            "SQL to run after changes of peers were merged, and at the start, for example to build an index again that the program keeps by functions of its own.",
            valueName: "sql"))
    var afterMerge: String?

    func validate() throws {
        guard database != nil || config != nil else { throw ValidationError("Name the database, or give --config.") }
        for (name, number) in [
            ("--conflict-days", conflictDays), ("--conflicts-per-row", conflictsPerRow),
            ("--requests-per-second", requestsPerSecond),
        ] {
            guard number.map({ Configuration.countRange.contains($0) }) ?? true else {
                throw ValidationError("\(name) is a number from 1 to 1000000.")
            }
        }
        guard archiveFlush?.isFlushTime != false else {
            throw ValidationError("--archive-flush is a time up to 60s.")
        }
        guard afterMerge?.isEmpty != true else { throw ValidationError("--after-merge is SQL.") }
        for (name, command) in [("--on-conflict", onConflict), ("--on-held", onHeld), ("--on-mismatch", onMismatch)]
        where command?.isEmpty == true {
            throw ValidationError("\(name) is a command.")
        }
    }

    func run() async throws {
        var flags = Configuration()
        flags.database = database
        flags.listen = listen
        flags.peers = peers.map { PeerSettings($0) }
        flags.tokenFile = tokenFile
        flags.tokens = tokens
        flags.tlsCertificate = tlsCertificate
        flags.tlsKey = tlsKey
        flags.tlsAuthority = tlsAuthority
        flags.tlsClientAuthority = tlsClientAuthority
        flags.bandwidth = bandwidth
        flags.requestsPerSecond = requestsPerSecond
        flags.logLevel = logLevel
        flags.logFormat = logFormat
        flags.conflictDays = conflictDays
        flags.conflictsPerRow = conflictsPerRow
        flags.keep = keep
        flags.lease = lease
        flags.collect = collect
        flags.archiveFlush = archiveFlush
        flags.recapture = recapture
        flags.onConflict = onConflict
        flags.onHeld = onHeld
        flags.onMismatch = onMismatch
        flags.extensions = extensions.paths
        flags.afterMerge = afterMerge
        let source = ConfigurationSource(flags: flags, file: config)
        if let cloneFrom { try await clone(from: cloneFrom, source) }
        try await Daemons(source).run()
    }

    /// Makes the database from a peer when there is none, with the token and the TLS files of that peer in the
    /// configuration, or those of the daemon.
    private func clone(from address: String, _ source: ConfigurationSource) async throws {
        try PeerConfiguration.checkScheme(of: address)
        let checked = try source.read(Credentials(environment: ProcessInfo.processInfo.environment))
        guard let settings = checked.databases.first, settings.name == nil else {
            throw Failure(
                "--clone-from is about one database, and the configuration names several",
                hint: "Make the database first: `syncd clone \(address) FILE`")
        }
        guard access(settings.database, F_OK) != 0 else { return }
        let known = try PeerConfiguration(
            address, token: try settings.token.map { try BearerToken($0.secret) },
            tls: TLSFiles(authorities: tlsAuthority))
        let peer = settings.peers.first { $0.address == known.address } ?? known
        let report = try await CloneCommand.clone(peer, to: settings.database, cluster: nil)
        for line in report.lines(path: settings.database) { Console.line(line) }
    }
}

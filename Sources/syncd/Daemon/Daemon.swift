import Foundation
import Hummingbird
import HummingbirdCore
import Journal
import Logging
import NIOSSL
import ServiceLifecycle
import Sync
import UnixSignals

/// `syncd run`: serves one replica to its peers, and follows them.
struct Daemon {
    /// The time within which requests and exchanges under way must end after SIGTERM.
    static let drainTime: Duration = .seconds(10)

    private let configuration: Configuration
    private let address: ListenAddress
    private let token: Token?
    private let tls: TLSConfiguration?
    private let logger: Logger
    private let replica: Replica
    private let replicator: Replicator
    private let lock: FileLock
    private let limits: ServerLimits

    /// Checks the settings, opens the file and locks it. Nothing runs yet.
    ///
    /// - Throws: ``Failure`` or ``JournalError``, with nothing changed.
    init(database path: String, _ configuration: Configuration) throws {
        self.configuration = configuration
        var limits = ServerLimits()
        limits.connections = try ProcessSetup.connections(
            atMost: limits.connections, peers: configuration.peers.count)
        limits.connectionsPerAddress = min(limits.connectionsPerAddress, max(limits.connections / 2, 1))
        self.limits = limits
        address = configuration.listen ?? .standard
        token = try configuration.tokenFile.map { try Token.load(from: $0) }
        guard token != nil || address.isLoopback else {
            throw Failure(
                "Listening on \(address) without a token would open the replica to everyone who can reach this machine",
                hint: "Give a token with --token-file, or listen on 127.0.0.1.")
        }
        tls = try Daemon.tls(configuration)
        logger = Logger.standardError(level: configuration.logLevel ?? .info)
        replica = try Replica.open(at: path, options: Daemon.options(logger))
        lock = try FileLock(database: path)
        replicator = try Replicator(
            replica: replica, peers: try Daemon.peers(configuration, token), limits: configuration.limits,
            clock: DrainingClock(), logger: logger)
    }

    private static func peers(_ configuration: Configuration, _ token: Token?) throws -> [PeerConfiguration] {
        let bearer = try token.map { try BearerToken($0.secret) }
        let files = try TrustedAuthorities.files(configuration.tlsAuthority)
        let peers = try configuration.peers.map { address in
            try PeerConfiguration.checkScheme(of: address)
            return try PeerConfiguration(address, token: bearer, tls: files)
        }
        var names: Set<String> = []
        for peer in peers where !names.insert(peer.name).inserted {
            throw Failure(
                "The peer \(peer.name) is given twice", hint: "Name each peer once, in --peer or in --config.")
        }
        return peers
    }

    private static func options(_ logger: Logger) -> Replica.Options {
        var options = Replica.Options()
        options.logger = logger
        return options
    }

    private static func tls(_ configuration: Configuration) throws -> TLSConfiguration? {
        switch (configuration.tlsCertificate, configuration.tlsKey) {
        case (nil, nil): return nil
        case (let certificate?, let key?):
            return try ListenerCertificate(certificate: certificate, key: key).configuration()
        case (_?, nil): throw Failure("--tls-cert is given without --tls-key", hint: "Give both or none.")
        case (nil, _?): throw Failure("--tls-key is given without --tls-cert", hint: "Give both or none.")
        }
    }

    /// Serves the replica and follows its peers until SIGTERM or SIGINT, then drains.
    ///
    /// - Throws: ``Failure`` when it cannot listen; ``JournalError`` when the file is moved, replaced or
    ///   removed meanwhile.
    func run() async throws {
        let metrics = RequestMetrics(limits: limits)
        let listener = Listener(
            address: address, tls: tls, gate: AccessGate(token: token),
            handlers: Handlers(replica: replica, replicator: replicator, metrics: metrics, limits: limits),
            limits: limits, metrics: metrics, logger: logger)
        let identity = try replica.identity()
        let scheme = tls == nil ? "http" : "https"
        let host = address.host
        let application = try listener.application { port in
            let url = "\(scheme)://\(ListenAddress(host: host, port: port))"
            Console.line("Listening on \(url) as replica \(identity.origin.short) of cluster \(identity.cluster).")
        }
        var configuration = ServiceGroupConfiguration(
            services: [Following(replicator: replicator), try FileSentinel(replica: replica), application],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        configuration.maximumGracefulShutdownDuration = Daemon.drainTime
        do {
            try await ServiceGroup(configuration: configuration).run()
        } catch is CancellationError {
            logger.notice("requests or exchanges under way did not end in time and were cancelled")
        } catch {
            if let failure = Failure(listeningOn: address, error) { throw failure }
            throw error
        }
        try replica.close()
        logger.notice("stopped")
    }
}

/// Follows the peers until the daemon is told to stop.
private struct Following: Service {
    let replicator: Replicator

    func run() async throws {
        await cancelWhenGracefulShutdown { await replicator.run() }
        // Without peers `run` returns at once, and a service that returns ends the daemon.
        try? await gracefulShutdown()
    }
}

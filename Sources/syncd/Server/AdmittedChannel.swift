import HummingbirdCore
import Logging
import NIOCore
import NIOSSL
import NIOTLS
import Synchronization

/// An accepted connection: bounds how many connections one address has, and how long the TLS handshake may
/// take.
///
/// After the handshake, the server's idle time bounds how long the head of a request may take.
struct AdmittedChannel<Base: ServerChildChannel>: ServerChildChannel {
    typealias Value = Base.Value

    let base: Base
    let connections: ConnectionCounts
    let limits: ServerLimits

    /// The address already has as many connections as one address may have.
    struct TooManyConnections: Error {}

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let address = channel.callerAddress
        guard connections.open(address, limit: limits.connectionsPerAddress) else {
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(TooManyConnections())
        }
        channel.closeFuture.whenComplete { [connections] _ in connections.close(address) }
        return base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            // Without TLS there is no handshake to wait for.
            if let tls = try? pipeline.handler(type: NIOSSLServerHandler.self) {
                try pipeline.addHandler(
                    HandshakeDeadline(seconds: limits.handshakeSeconds), position: .after(tls))
            }
            return value
        }
    }

    func handle(value: Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}

extension Channel {
    /// The caller's address, as the socket reports it. Headers are ignored: a caller can put any address
    /// there.
    var callerAddress: String { remoteAddress?.ipAddress ?? "" }

    /// The certificate that the caller has shown for this connection, or for the connection of which this is a stream;
    /// nil for none.
    func clientCertificate() async throws -> ClientCertificate? {
        let bytes = try await eventLoop.submit { () -> [UInt8]? in
            let handler =
                (try? self.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self))
                ?? (try? self.connection?.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self))
            return try handler?.peerCertificate?.toDERBytes()
        }.get()
        return bytes.flatMap { ClientCertificate(der: $0) }
    }

    /// True for a stream of HTTP/2.
    var isStream: Bool { connection != nil }

    /// The connection of which this is a stream; nil for a connection, whose parent is the listening socket.
    private var connection: (any Channel)? { parent.flatMap { $0.remoteAddress == nil ? nil : $0 } }
}

/// Counts the connections of each address.
final class ConnectionCounts: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    /// Counts a connection that opens.
    ///
    /// - Returns: False, with nothing counted, when `address` already has `limit` connections.
    func open(_ address: String, limit: Int) -> Bool {
        counts.withLock { counts in
            guard counts[address, default: 0] < limit else { return false }
            counts[address, default: 0] += 1
            return true
        }
    }

    func close(_ address: String) {
        counts.withLock { counts in
            let left = counts[address, default: 0] - 1
            counts[address] = left > 0 ? left : nil
        }
    }
}

/// Closes a connection whose TLS handshake does not end in time. HTTP, whose timers begin later, would never
/// close it.
final class HandshakeDeadline: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private let seconds: Int64
    private var timer: Scheduled<Void>?

    init(seconds: Int64) { self.seconds = seconds }

    func handlerAdded(context: ChannelHandlerContext) { timer = context.channel.close(after: seconds) }
    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { timer?.cancel() }
        context.fireUserInboundEventTriggered(event)
    }
}

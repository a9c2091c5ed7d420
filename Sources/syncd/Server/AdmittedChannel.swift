import HummingbirdCore
import Logging
import NIOCore
import NIOSSL
import NIOTLS
import Synchronization

/// A connection from the moment when it is accepted: one address gets its share of them and no more, and who opens one has to
/// greet in time.
///
/// Once the greeting is over, the server's idle time bounds how long the head of a request may take.
struct AdmittedChannel<Base: ServerChildChannel>: ServerChildChannel {
    typealias Value = Base.Value

    let base: Base
    let connections: ConnectionCounts
    let limits: ServerLimits

    /// The address has as many connections as one may have.
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
            // Without TLS there is nothing to greet with.
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
    /// Who is on the other side, as far as the network says: what a request claims in its headers is not looked at.
    var callerAddress: String { remoteAddress?.ipAddress ?? "" }
}

/// How many connections each address has.
final class ConnectionCounts: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    /// - Returns: False, with nothing counted, when `address` has `limit` connections already.
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

/// Closes a connection whose TLS handshake does not end in time. Until then there is no HTTP, and nothing else that would.
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

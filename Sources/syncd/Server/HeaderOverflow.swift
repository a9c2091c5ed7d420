import NIOCore
import NIOHTTP1

/// Answers a head that is larger than the limits with 431 instead of a plain 400, and closes the connection.
///
/// The parser has failed at that point, and the next bytes lie within a header. HTTP/2 connections are left
/// alone: they answer by themselves, and have no HTTP/1 encoder.
final class HeaderOverflow: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private static let answer =
        "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let pipeline = context.channel.pipeline.syncOperations
        guard case .headerOverflow? = error as? HTTPParserError,
            let encoder = try? pipeline.context(handlerType: HTTPResponseEncoder.self)
        else { return context.fireErrorCaught(error) }
        // Written past the encoder, which can only answer a parsed request.
        encoder.writeAndFlush(NIOAny(ByteBuffer(string: HeaderOverflow.answer)), promise: nil)
        encoder.close(promise: nil)
    }
}

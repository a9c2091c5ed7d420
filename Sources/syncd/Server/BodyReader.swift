import Hummingbird
import NIOCore
import Sync

/// Reads bodies of requests, not slower than the limits allow.
struct BodyReader: Sendable {
    let metrics: RequestMetrics
    let limits: ServerLimits

    /// Reads the whole body of a request that is one message.
    ///
    /// - Throws: ``SyncError/Code/tooLarge``; what is thrown for a body that arrives too slowly.
    func read(_ request: Request, _ action: Route.Action) async throws -> [UInt8] {
        let limit = limits.bodyBytes(for: action)
        var bytes: [UInt8] = []
        try await read(request) { piece in
            guard bytes.count + piece.readableBytes <= limit else {
                throw SyncError(.tooLarge, "The body has more than \(limit) bytes")
            }
            bytes += piece.readableBytesView
        }
        return bytes
    }

    /// Passes on the pieces of a body as they arrive.
    ///
    /// - Throws: What `take` throws; what is thrown for a body that arrives too slowly.
    func read(_ request: Request, take: (ByteBuffer) async throws -> Void) async throws {
        var pace = BodyPace(start: metrics.milliseconds, limits)
        for try await piece in request.body {
            try pace.receive(piece.readableBytes, milliseconds: metrics.milliseconds)
            try await take(piece)
        }
    }
}

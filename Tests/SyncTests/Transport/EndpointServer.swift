import Foundation
import Synchronization

@testable import Sync

extension ScriptedServer {
    /// A server with the protocol's routes over `endpoint`, with as little HTTP as a client needs.
    static func serving(_ endpoint: Endpoint) throws -> ScriptedServer {
        try ScriptedServer { request, connection in
            let isDone = DispatchSemaphore(value: 0)
            let isAlive = Mutex(true)
            Task {
                do {
                    try await answer(request, connection, endpoint)
                } catch {
                    let error = SyncError(wrapping: error)
                    connection.respond("\(error.httpStatus) Error", type: "application/json", error.jsonBody())
                    isAlive.withLock { $0 = false }
                }
                isDone.signal()
            }
            isDone.wait()
            return isAlive.withLock { $0 }
        }
    }

    private static func answer(
        _ request: Request, _ connection: Connection, _ endpoint: Endpoint
    ) async throws {
        switch request.path {
        case WireHTTP.helloPath:
            connection.respond(type: WireHTTP.messageType, try await endpoint.hello(body: request.body))
        case WireHTTP.digestPath:
            connection.respond(type: WireHTTP.messageType, try await endpoint.digest(body: request.body))
        case WireHTTP.pullPath:
            let pull = try await endpoint.pullRequest(body: request.body)
            connection.send(
                "HTTP/1.1 200 OK\r\nContent-Type: \(WireHTTP.framesType)\r\nTransfer-Encoding: chunked\r\n\r\n")
            try await endpoint.pull(pull) { bytes in
                connection.send(String(bytes.count, radix: 16) + "\r\n")
                connection.send(bytes + [0x0D, 0x0A])
            }
            connection.send("0\r\n\r\n")
        case WireHTTP.pushPath:
            var receiver = endpoint.beginPush()
            for start in stride(from: 0, to: request.body.count, by: 10_000) {
                try await receiver.receive(request.body[start..<min(start + 10_000, request.body.count)])
            }
            connection.respond(type: WireHTTP.messageType, try await receiver.finish().encoded())
        default:
            throw SyncError(.notFound, "no such route")
        }
    }
}

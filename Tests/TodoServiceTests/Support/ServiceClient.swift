import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// A client of the service's API, with a connection for each request.
struct ServiceClient: Sendable {
    private typealias Connection = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>

    let port: Int

    struct Answer: Sendable {
        var status = 0
        var headers = HTTPHeaders()
        var body = Data()

        func json<T: Decodable>(_ type: T.Type) throws -> T { try JSONDecoder().decode(type, from: body) }
    }

    func send(
        _ method: HTTPMethod, _ path: String, json: String? = nil, type: String = "application/json",
        token: String? = nil
    ) async throws -> Answer {
        try await withConnection(method, path, json, type, token) { inbound in
            var answer = Answer()
            for try await part in inbound {
                switch part {
                case .head(let head):
                    answer.status = Int(head.status.code)
                    answer.headers = head.headers
                case .body(let bytes): answer.body += Data(bytes.readableBytesView)
                case .end: return answer
                }
            }
            return answer
        }
    }

    /// Keeps the live feed open during `body`.
    func withEvents<Result: Sendable>(_ body: (EventReader) async throws -> Result) async throws -> Result {
        try await withConnection(.GET, "/events", nil, "") { inbound in
            try await body(EventReader(inbound))
        }
    }

    private func withConnection<Result: Sendable>(
        _ method: HTTPMethod, _ path: String, _ json: String?, _ type: String, _ token: String? = nil,
        _ body: (NIOAsyncChannelInboundStream<HTTPClientResponsePart>) async throws -> Result
    ) async throws -> Result {
        let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
        return try await connection.executeThenClose { inbound, outbound in
            var head = HTTPRequestHead(version: .http1_1, method: method, uri: path)
            head.headers.add(name: "Host", value: "127.0.0.1:\(port)")
            if let token { head.headers.add(name: "Tandem-Token", value: token) }
            if let json {
                head.headers.add(name: "Content-Type", value: type)
                head.headers.add(name: "Content-Length", value: "\(json.utf8.count)")
            }
            try await outbound.write(.head(head))
            if let json { try await outbound.write(.body(.byteBuffer(ByteBuffer(string: json)))) }
            try await outbound.write(.end(nil))
            return try await body(inbound)
        }
    }
}

/// Reads server-sent events one after the other.
final class EventReader {
    private var parts: NIOAsyncChannelInboundStream<HTTPClientResponsePart>.AsyncIterator
    private var text = ""

    init(_ inbound: NIOAsyncChannelInboundStream<HTTPClientResponsePart>) { parts = inbound.makeAsyncIterator() }

    /// The next event; nil when the service ends the feed.
    func next() async throws -> LiveEvent? {
        while true {
            if let end = text.range(of: "\n\n") {
                let event = try LiveEvent(String(text[..<end.lowerBound]))
                text.removeSubrange(..<end.upperBound)
                return event
            }
            switch try await parts.next() {
            case .head: continue
            case .body(let bytes): text += String(buffer: bytes)
            case .end, nil: return nil
            }
        }
    }

    /// Reads up to the first event for which `isWanted` holds.
    @discardableResult
    func next(where isWanted: (LiveEvent) -> Bool) async throws -> LiveEvent? {
        while let event = try await next() {
            if isWanted(event) { return event }
        }
        return nil
    }
}

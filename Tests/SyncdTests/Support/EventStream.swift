import Foundation

/// A reader of `GET /events`, as a browser is.
final class EventStream: @unchecked Sendable {
    // One test reads it, one read at a time.
    private let descriptor: Int32
    private var received: [UInt8] = []

    /// - Parameter headers: The credentials.
    init(_ daemon: DaemonProcess, _ headers: [(String, String)] = []) throws {
        descriptor = try RawHTTP.connect(to: daemon.port)
        let lines = headers.map { "\($0.0): \($0.1)\r\n" }.joined()
        RawHTTP.send(Array("GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\(lines)\r\n".utf8), on: descriptor)
    }

    deinit { close(descriptor) }

    /// Reads on until a piece of the stream has all of `texts`, and returns that piece. Pieces end with an empty
    /// line.
    ///
    /// - Throws: `ToolError` at the end of the stream, and after the time of a test.
    func next(with texts: String...) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { [self] in continuation.resume(with: Result { try read(texts) }) }
        }
    }

    /// Reads to the end of the stream.
    func end() async throws {
        do {
            _ = try await next(with: "nothing has this")
        } catch let error as ToolError where error.description.contains("has ended") {}
    }

    private func read(_ texts: [String]) throws -> String {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            while let end = received.firstRange(of: Array("\n\n".utf8)) {
                let piece = String(decoding: received[..<end.lowerBound], as: UTF8.self)
                received.removeSubrange(..<end.upperBound)
                if texts.allSatisfy({ piece.contains($0) }) { return piece }
            }
            // The last chunk. The connection may stay open for another request.
            if received.suffix(7) == Array("\r\n0\r\n\r\n".utf8)[...] { throw ToolError("the stream has ended") }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0 { throw ToolError("no event within \(RawHTTP.patience) s") }
            if count == 0 { throw ToolError("the stream has ended") }
            received += buffer[..<count]
        }
    }
}

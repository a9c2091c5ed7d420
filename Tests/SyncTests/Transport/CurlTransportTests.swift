import Foundation
import Journal
import Synchronization
import TestSupport
import Testing

@testable import Sync

/// Each wrong answer of a server, and the client's reaction.
@Suite struct CurlTransportTests {
    private static let origin = OriginID(high: 4, low: 2)
    private static let greeting = Hello(
        cluster: "main", origin: origin, formatVersion: 1, vector: VersionVector(), wallMilliseconds: 1)

    private let limits = Limits.standard

    private func transport(_ url: String, limits: Limits? = nil) throws -> CurlTransport {
        try CurlTransport(
            PeerConfiguration(url, token: BearerToken("s3cret-canary")), limits: limits ?? self.limits)
    }

    private func pullRequest() -> PullRequest {
        PullRequest(cluster: "main", origin: Self.origin, have: VersionVector())
    }

    private func stream(batches: Int = 3) throws -> (frames: [Frame], bytes: [UInt8]) {
        var generator = SplitMix(seed: 8)
        var frames: [Frame] = []
        for _ in 0..<batches {
            frames.append(try Frame(ChangeBatch.random(changes: 20, using: &generator), encoding: .zstd))
        }
        let end = Frame(body: .end(vector: VersionVector(), more: true))
        return (frames, try (frames + [end]).flatMap { try $0.encoded() })
    }

    /// The error of a hello to a server that gives this answer.
    private func failure(
        limits: Limits? = nil, _ answer: @escaping @Sendable (ScriptedServer.Connection) -> Void
    ) async throws -> SyncError {
        let server = try ScriptedServer { _, connection in
            answer(connection)
            return false
        }
        defer { server.stop() }
        do {
            _ = try await transport(server.url, limits: limits).hello(Self.greeting)
            Issue.record("the answer was accepted")
            return SyncError(.failed, "")
        } catch let error as SyncError {
            #expect(!"\(error)".contains("canary"))
            return error
        }
    }

    @Test("a hello is answered, and the connection is used again")
    func hello() async throws {
        let answer = try Self.greeting.encoded()
        let seen = Mutex<[ScriptedServer.Request]>([])
        let server = try ScriptedServer { request, connection in
            seen.withLock { $0.append(request) }
            connection.respond(type: WireHTTP.messageType, answer)
            return true
        }
        defer { server.stop() }
        let transport = try transport(server.url)
        for _ in 0..<5 { #expect(try await transport.hello(Self.greeting) == Self.greeting) }
        #expect(server.connections == 1)
        let request = try #require(seen.withLock { $0.first })
        #expect(request.line == "POST /v1/hello HTTP/1.1")
        #expect(request.headers["authorization"] == "Bearer s3cret-canary")
        #expect(request.headers["content-type"] == WireHTTP.messageType)
        #expect(request.headers["expect"] == nil)
        #expect(request.headers["cookie"] == nil)
        #expect(request.body == answer)
    }

    @Test("a pull streams frames, for any cuts of the body")
    func pull() async throws {
        let (frames, bytes) = try stream()
        let server = try ScriptedServer { _, connection in
            connection.send(
                "HTTP/1.1 200 OK\r\nContent-Type: \(WireHTTP.framesType)\r\nTransfer-Encoding: chunked\r\n\r\n")
            for start in stride(from: 0, to: bytes.count, by: 97) {
                let piece = bytes[start..<min(start + 97, bytes.count)]
                connection.send(String(piece.count, radix: 16) + "\r\n")
                connection.send(Array(piece) + [0x0D, 0x0A])
            }
            connection.send("0\r\n\r\n")
            return true
        }
        defer { server.stop() }
        let arrived = Mutex<[Frame]>([])
        let end = try await transport(server.url).pull(pullRequest()) { frame in arrived.withLock { $0.append(frame) } }
        #expect(arrived.withLock { $0 } == frames)
        #expect(end.more)
    }

    @Test("a peer with a rate gets and sends no more than that a second", arguments: [true, false])
    func bandwidth(receives: Bool) async throws {
        var generator = SplitMix(seed: 3)
        var batch = ChangeBatch.random(changes: 1, using: &generator)
        batch.values[0] = .blob((0..<256_000).map { _ in UInt8.random(in: .min ... .max, using: &generator) }[...])
        let frame = try Frame(batch, encoding: .none)
        let end = Frame(body: .end(vector: VersionVector(), more: false))
        let frames = try [frame, end].flatMap { try $0.encoded() }
        let reply = try PushReply(vector: VersionVector(), applied: 1).encoded()
        let server = try ScriptedServer { _, connection in
            receives
                ? connection.respond(type: WireHTTP.framesType, frames)
                : connection.respond(type: WireHTTP.messageType, reply)
            return true
        }
        defer { server.stop() }
        var peer = try PeerConfiguration(server.url)
        peer.bytesPerSecond = 64_000
        let transport = try CurlTransport(peer)
        let time = try await ContinuousClock().measure {
            if receives {
                _ = try await transport.pull(pullRequest()) { #expect($0 == frame) }
            } else {
                _ = try await transport.push([frame])
            }
        }
        // The buffers of the sockets take a part at once.
        #expect(time > .milliseconds(1_000), "\(time)")
    }

    @Test("a rate counts from the first byte, and tells when more may come")
    func receiveRate() {
        var rate = ReceiveRate(bytesPerSecond: 1_000)
        #expect(rate.delay(after: 0, milliseconds: 5_000) == 0)
        #expect(rate.delay(after: 500, milliseconds: 5_000) == 500)
        #expect(rate.delay(after: 500, milliseconds: 5_499) == 1)
        #expect(rate.delay(after: 500, milliseconds: 5_500) == 0)
        #expect(rate.delay(after: 2_000, milliseconds: 6_000) == 1_000)
        // A clock that steps back only makes it slower.
        #expect(rate.delay(after: 500, milliseconds: 4_000) == 1_500)
    }

    @Test("a large answer waits for a slow reader and arrives whole")
    func backpressure() async throws {
        var generator = SplitMix(seed: 2)
        var batch = ChangeBatch.random(changes: 1, using: &generator)
        let noise = (0..<3_000_000).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        batch.values[0] = .blob(noise[...])
        let frame = try Frame(batch, encoding: .none)
        let bytes = try [frame, frame, Frame(body: .end(vector: VersionVector(), more: false))]
            .flatMap { try $0.encoded() }
        let server = try ScriptedServer { _, connection in
            connection.respond(type: WireHTTP.framesType, bytes)
            return true
        }
        defer { server.stop() }
        let count = Mutex(0)
        _ = try await transport(server.url).pull(pullRequest()) { arrived in
            for _ in 0..<1_000 { await Task.yield() }
            #expect(arrived == frame)
            count.withLock { $0 += 1 }
        }
        #expect(count.withLock { $0 } == 2)
    }

    @Test("a page of HTML with status 200 is no peer")
    func html() async throws {
        let error = try await failure { $0.respond(type: "text/html", Array("<html>log in</html>".utf8)) }
        #expect(error.code == .notAPeer)
        #expect(error.hint != nil)
    }

    @Test("garbage of the right type is refused")
    func garbage() async throws {
        let error = try await failure { $0.respond(type: WireHTTP.messageType, [0xFF, 0xFF, 0xFF]) }
        #expect(error.code == .invalid)
    }

    @Test("a server that does not speak HTTP is no peer")
    func noHTTP() async throws {
        let error = try await failure { $0.send("220 smtp.example.org ESMTP\r\n") }
        #expect(error.code == .notAPeer)
    }

    @Test("half a body is truncated")
    func half() async throws {
        let error = try await failure { connection in
            connection.send(
                "HTTP/1.1 200 OK\r\nContent-Type: \(WireHTTP.messageType)\r\nContent-Length: 1000\r\n\r\nabc")
        }
        #expect(error.code == .truncated)
    }

    @Test("a connection that closes without an answer is reported and retryable")
    func nothing() async throws {
        let error = try await failure { _ in }
        #expect(error.code == .truncated)
        #expect(error.isRetryable)
    }

    @Test("a stream without its last frame is truncated, and its frames count")
    func noEnd() async throws {
        let frames = try stream().frames
        let bytes = try frames.flatMap { try $0.encoded() }
        let server = try ScriptedServer { _, connection in
            connection.respond(type: WireHTTP.framesType, bytes)
            return true
        }
        defer { server.stop() }
        let count = Mutex(0)
        do {
            _ = try await transport(server.url).pull(pullRequest()) { _ in count.withLock { $0 += 1 } }
            Issue.record("the stream was taken for whole")
        } catch let error as SyncError {
            #expect(error.code == .truncated)
        }
        #expect(count.withLock { $0 } == frames.count)
    }

    @Test("a body that never ends is stopped at the limit")
    func endless() async throws {
        var small = limits
        small.messageBytes = 1 << 20
        let error = try await failure(limits: small) { connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: \(WireHTTP.messageType)\r\n\r\n")
            let piece = [UInt8](repeating: 0, count: 64 << 10)
            while connection.send(piece) {}
        }
        #expect(error.code == .tooLarge)
    }

    @Test("header lines that never end are stopped at the limit")
    func endlessHeader() async throws {
        let error = try await failure { connection in
            connection.send("HTTP/1.1 200 OK\r\n")
            while connection.send("X-Filler: \(String(repeating: "x", count: 1_000))\r\n") {}
        }
        #expect(error.code == .tooLarge)
    }

    @Test("a server that says nothing, or a byte from time to time, times out")
    func silent() async throws {
        var impatient = limits
        impatient.lowSpeedSeconds = 1
        let error = try await failure(limits: impatient) { $0.waitForClose() }
        #expect(error.code == .timedOut)
    }

    @Test("redirects are not followed", arguments: [301, 302, 303, 307, 308])
    func redirects(status: Int) async throws {
        let error = try await failure {
            $0.respond("\(status) Moved", type: "text/plain", [], extra: "Location: file:///etc/passwd\r\n")
        }
        #expect(error.code == .notAPeer)
        #expect(error.hint?.contains("Redirects") == true)
    }

    @Test("an error of the peer arrives with its code, message and hint, and a delay within the limit")
    func peerError() async throws {
        let said = SyncError(.otherCluster, "another cluster", hint: "look again")
        let error = try await failure {
            $0.respond("409 Conflict", type: "application/json", said.jsonBody(), extra: "Retry-After: 9999999\r\n")
        }
        #expect(error.code == .otherCluster)
        #expect(error.message.contains("another cluster"))
        #expect(error.hint == "look again")
        #expect(error.retryAfterSeconds == limits.retryAfterSeconds)
    }

    @Test("an error of a push whose answer had begun arrives as it would have otherwise")
    func lateError() async throws {
        let said = SyncError(.storage, "no room", hint: "delete something")
        var reply = PushReply(vector: VersionVector(), applied: 0)
        reply.refusal = PushReply.Refusal(status: 507, body: said.jsonBody(), retryAfterSeconds: 7)
        let pieces = try PushReply.waiting(bytes: 100) + PushReply.waiting(bytes: 100) + reply.encoded()
        let server = try ScriptedServer { _, connection in
            connection.respond(type: WireHTTP.messageType, pieces)
            return true
        }
        defer { server.stop() }
        let transport = try transport(server.url)
        await #expect {
            try await transport.push([Frame(body: .end(vector: VersionVector(), more: false))])
        } throws: { error in
            let error = error as? SyncError
            return error?.code == said.code && error?.message.contains("no room") == true
                && error?.hint == "delete something" && error?.retryAfterSeconds == 7
        }
    }

    @Test("a missing or wrong token is reported as such")
    func unauthorized() async throws {
        let error = try await failure { $0.respond("401 Unauthorized", type: "text/plain", []) }
        #expect(error.code == .unauthorized)
        #expect(error.hint?.contains("--token-file") == true)
    }

    @Test("a compressed answer that was not requested is refused")
    func contentEncoding() async throws {
        let error = try await failure {
            $0.respond(type: WireHTTP.messageType, [], extra: "Content-Encoding: gzip, gzip\r\n")
        }
        #expect(error.code == .notAPeer)
    }

    @Test("a port without a listener is unreachable")
    func refused() async throws {
        let server = try ScriptedServer { _, _ in false }
        server.stop()
        do {
            _ = try await transport(server.url).hello(Self.greeting)
            Issue.record("somebody answered")
        } catch let error as SyncError {
            #expect(error.code == .unreachable)
            #expect(error.hint?.contains("syncd") == true)
        }
    }

    @Test("TLS to a port without TLS is a TLS failure")
    func tls() async throws {
        let server = try ScriptedServer { _, _ in false }
        defer { server.stop() }
        var impatient = limits
        impatient.connectTimeoutMilliseconds = 500
        do {
            _ = try await transport("https://127.0.0.1:\(server.port)", limits: impatient).hello(Self.greeting)
            Issue.record("a secure connection came about")
        } catch let error as SyncError {
            #expect([.tls, .timedOut].contains(error.code))
        }
    }

    @Test("a proxy of the environment is ignored")
    func proxy() async throws {
        setenv("http_proxy", "http://127.0.0.1:1", 1)
        defer { unsetenv("http_proxy") }
        let answer = try Self.greeting.encoded()
        let server = try ScriptedServer { _, connection in
            connection.respond(type: WireHTTP.messageType, answer)
            return true
        }
        defer { server.stop() }
        #expect(try await transport(server.url).hello(Self.greeting) == Self.greeting)
    }

    @Test("cancelling a task ends its transfer at once")
    func cancellation() async throws {
        let (started, signal) = AsyncStream.makeStream(of: Void.self)
        let server = try ScriptedServer { _, connection in
            signal.yield()
            connection.waitForClose()
            return false
        }
        defer { server.stop() }
        let transport = try transport(server.url)
        let task = Task { try await transport.hello(Self.greeting) }
        for await _ in started { break }
        task.cancel()
        do {
            _ = try await task.value
            Issue.record("the transfer was not cancelled")
        } catch let error as SyncError {
            #expect(error.code == .cancelled)
        }
    }

    @Test("a path is no peer for libcurl")
    func path() throws {
        let peer = try PeerConfiguration("/var/lib/a.sqlite")
        let error = #expect(throws: SyncError.self) { try CurlTransport(peer) }
        #expect(error?.code == .configuration)
    }
}

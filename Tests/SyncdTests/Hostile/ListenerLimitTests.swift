import Foundation
import Hummingbird
import Journal
import Logging
import Sync
import TestSupport
import Testing

@testable import SyncdCore

/// A listener in this process, so that its limits can be small.
private final class SmallListener: Sendable {
    let port: Int
    private let running: Task<Void, any Error>
    private let workspace: Workspace

    init(tls: Bool = false, _ change: (inout ServerLimits) -> Void) async throws {
        var limits = ServerLimits()
        change(&limits)
        let workspace = Workspace()
        self.workspace = workspace
        let replica = try Replica.open(at: try await workspace.makeReplica())
        let replicator = try Replicator(replica: replica)
        let metrics = RequestMetrics(limits: limits)
        let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures/tls").path
        let certificate = try ListenerCertificate(certificate: "\(fixtures)/server.pem", key: "\(fixtures)/server.key")
        let gate = AccessGate(
            tokens: { AccessTokens() }, sessions: Sessions(name: "test", isSecure: false) { AccessTokens() })
        let listener = Listener(
            address: ListenAddress(host: "127.0.0.1", port: 0), tls: tls ? certificate.configuration { nil } : nil,
            gate: gate,
            handlers: Handlers(
                replica: replica, replicator: replicator, metrics: metrics, limits: limits, reloader: NoReloader(),
                gate: gate),
            limits: limits, metrics: metrics, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let application = try listener.application { found.yield($0) }
        running = Task {
            defer { found.finish() }
            try await application.run()
        }
        guard let port = await ports.first(where: { _ in true }) else {
            throw ToolError("the listener does not listen")
        }
        self.port = port
    }

    deinit { running.cancel() }
}

private struct NoReloader: Reloader {
    var refusal: String? { nil }

    func reload() async throws -> ReloadPlans { throw Failure("There is no configuration", hint: "None") }
}

@Suite("The share of one client in a listener is bounded", .timeLimit(.minutes(2)))
struct ListenerLimitTests {
    /// Waits for the end of a connection. False when the time of a test is over before.
    private func isClosed(_ descriptor: Int32) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var count = 0
        // An answer may come before the end.
        repeat { count = recv(descriptor, &buffer, buffer.count, 0) } while count > 0
        return count == 0 || (count < 0 && errno == ECONNRESET)
    }

    private func send(_ text: String, _ descriptor: Int32) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            == bytes.count
    }

    @Test("B3: beyond its share of connections, an address is disconnected at once, and another address is served")
    func connections() async throws {
        let listener = try await SmallListener { $0.connectionsPerAddress = 4 }
        var held: [Int32] = []
        for _ in 0..<4 {
            let descriptor = try RawHTTP.connect(to: listener.port)
            // The answer shows that the connection was counted.
            #expect(send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", descriptor))
            var buffer = [UInt8](repeating: 0, count: 4_096)
            #expect(recv(descriptor, &buffer, buffer.count, 0) > 0)
            held.append(descriptor)
        }
        for _ in 0..<20 {
            let refused = try RawHTTP.connect(to: listener.port)
            #expect(isClosed(refused))
            close(refused)
        }
        let other = try RawHTTP.connect(to: listener.port, from: "127.0.0.2")
        #expect(send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", other))
        var answer = [UInt8](repeating: 0, count: 4_096)
        #expect(recv(other, &answer, answer.count, 0) > 0)
        close(other)
        for descriptor in held {
            shutdown(descriptor, Int32(SHUT_WR))
            #expect(isClosed(descriptor))
            close(descriptor)
        }
        #expect(try await RawHTTP.request("GET", "/healthz", port: listener.port).status == 200)
    }

    @Test(
        "B3: the head of a request must arrive in time",
        arguments: ["", "GET /v1/sta", "GET /healthz HTTP/1.1\r\nX-A: "])
    func slowHead(beginning: String) async throws {
        let listener = try await SmallListener { $0.idleSeconds = 1 }
        let descriptor = try RawHTTP.connect(to: listener.port)
        defer { close(descriptor) }
        #expect(send(beginning, descriptor))
        #expect(isClosed(descriptor))
    }

    @Test("B3: a header that arrives byte by byte does not extend the time")
    func drippingHead() async throws {
        let listener = try await SmallListener { $0.idleSeconds = 1 }
        let descriptor = try RawHTTP.connect(to: listener.port)
        defer { close(descriptor) }
        let start = ContinuousClock.now
        #expect(send("GET /healthz HTTP/1.1\r\nX-A: ", descriptor))
        drip(descriptor)
        #expect(isClosed(descriptor))
        #expect(ContinuousClock.now - start < .seconds(10))
    }

    @Test("B3: a TLS handshake must end in time", arguments: [[], [0x16, 0x03, 0x01] as [UInt8]])
    func handshake(beginning: [UInt8]) async throws {
        let listener = try await SmallListener(tls: true) { $0.handshakeSeconds = 1 }
        let descriptor = try RawHTTP.connect(to: listener.port)
        defer { close(descriptor) }
        _ = beginning.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        #expect(isClosed(descriptor))
    }

    @Test("B2: a body that arrives byte by byte is answered 408, and others are served in the meantime")
    func drippingBody() async throws {
        let listener = try await SmallListener {
            $0.slowBodySeconds = 1
            $0.bodyBytesPerSecond = 1_000
        }
        let descriptor = try RawHTTP.connect(to: listener.port)
        defer { close(descriptor) }
        #expect(
            send(
                "POST /v1/push HTTP/1.1\r\nHost: localhost\r\nContent-Type: \(WireHTTP.framesType)\r\nContent-Length: 100000\r\n\r\nT",
                descriptor))
        #expect(try await RawHTTP.request("GET", "/healthz", port: listener.port).status == 200)
        let frame = Array("DM1".utf8) + [0, 0, 0, 8, 0, 1, 0, 0]
        _ = frame.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        drip(descriptor)
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        #expect(String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self).hasPrefix("HTTP/1.1 408 "))
    }

    /// Sends a byte every tenth of a second until an answer arrives or the connection ends.
    private func drip(_ descriptor: Int32) {
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        for _ in 0..<200 where poll(&ready, 1, 100) == 0 {
            if !send("a", descriptor) { return }
        }
    }

    @Test("B15: an address with too many requests is answered 429 with Retry-After, and another one is served")
    func rate() async throws {
        let listener = try await SmallListener {
            $0.requestBurst = 20
            $0.requestsPerSecond = 1
        }
        var refused = 0
        for _ in 0..<30 {
            let answer = try await RawHTTP.request("GET", "/v1/status", port: listener.port)
            guard answer.status != 200 else { continue }
            #expect(answer.status == 429)
            #expect(answer.body.contains(#""code":"too_many_requests""#))
            #expect(answer.head.lowercased().contains("retry-after: 1"), "\(answer.head)")
            refused += 1
        }
        #expect(refused > 0)
        let other = try RawHTTP.connect(to: listener.port, from: "127.0.0.2")
        defer { close(other) }
        #expect(send("GET /v1/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", other))
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(other, &buffer, buffer.count, 0)
        #expect(String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self).hasPrefix("HTTP/1.1 200 "))
    }

    @Test("B15: an address has half of the requests of a kind that may run at once, and all addresses have the whole")
    func share() throws {
        var limits = ServerLimits()
        limits.bodies = 4
        let metrics = RequestMetrics(limits: limits)
        func begin(_ address: String) -> RequestPermit? {
            try? metrics.begin(.init(action: .push, address: address))
        }
        var one: [RequestPermit] = (0..<5).compactMap { _ in begin("10.0.0.1") }
        #expect(one.count == 2)
        let others = ["10.0.0.2", "10.0.0.3", "10.0.0.4"].compactMap { begin($0) }
        #expect(others.count == 2)
        one.removeLast()
        #expect(begin("10.0.0.4") != nil)
        withExtendedLifetime((one, others)) {}
    }

    @Test("a bucket of requests allows a burst, then the rate, and remembers a bounded number of callers")
    func bucket() {
        var rate = RequestRate(burst: 3, perSecond: 2)
        #expect((0..<5).map { _ in rate.take("a", milliseconds: 0) } == [nil, nil, nil, 1, 1])
        #expect(rate.take("b", milliseconds: 0) == nil)
        #expect(rate.take("a", milliseconds: 499) == 1)
        #expect(rate.take("a", milliseconds: 500) == nil)
        #expect(rate.take("a", milliseconds: 501) == 1)
        // A clock that steps back adds nothing.
        #expect(rate.take("a", milliseconds: -10_000) == 1)
        #expect((0..<4).map { _ in rate.take("a", milliseconds: 100_000) } == [nil, nil, nil, 1])
        for caller in 0..<(3 * RequestRate.callers) { #expect(rate.take("\(caller)", milliseconds: 200_000) == nil) }
    }

    @Test("a changed limit of requests counts from the next request on")
    func changedBucket() {
        var rate = RequestRate(burst: 3, perSecond: 2)
        #expect((0..<2).map { _ in rate.take("a", milliseconds: 0) } == [nil, nil])
        rate.setLimits(burst: 10, perSecond: 5)
        #expect((0..<3).map { _ in rate.take("a", milliseconds: 200) } == [nil, nil, 1])
        rate.setLimits(burst: 1, perSecond: 1)
        #expect((0..<2).map { _ in rate.take("a", milliseconds: 60_000) } == [nil, 1])
        let metrics = RequestMetrics(limits: ServerLimits())
        metrics.setRequestsPerSecond(1)
        let permits = (0..<10).compactMap { _ in
            try? metrics.begin(.init(action: .status, address: "10.0.0.1"))
        }
        #expect((2...4).contains(permits.count))
    }

    @Test("a body may be slow at first, and must then keep its rate on average")
    func pace() throws {
        var limits = ServerLimits()
        limits.slowBodySeconds = 30
        limits.bodyBytesPerSecond = 64
        var pace = BodyPace(start: 1_000, limits)
        try pace.receive(1, milliseconds: 31_000)
        #expect(throws: Refusal.self) { try pace.receive(1, milliseconds: 31_001) }
        var good = BodyPace(start: 0, limits)
        for second in 1...600 { try good.receive(64, milliseconds: Int64(second) * 1_000) }
    }
}

import CCurl

/// A peer over HTTP or HTTPS, through libcurl. The peer is treated as hostile.
///
/// Redirects, proxies, cookies, `.netrc`, HSTS and alternative services are off, so a request goes to the
/// configured address or nowhere. Headers, bodies and times are bounded. Connections are reused.
public final class CurlTransport: Transport {
    /// The peer's address.
    public let name: String
    private let url: String
    private let configuration: PeerConfiguration
    let limits: Limits
    private let pool = CurlPool()

    /// - Throws: ``SyncError/Code/configuration`` when the peer is not an HTTP address.
    public init(_ peer: PeerConfiguration, limits: Limits = .standard) throws(SyncError) {
        guard case .http(let url) = peer.address else {
            throw SyncError(.configuration, "\(peer.name) is not an http:// or https:// address")
        }
        self.url = url
        self.name = peer.name
        self.configuration = peer
        self.limits = limits
    }

    /// As ``Transport/hello(_:)``, by `POST /v1/hello`.
    ///
    /// - Throws: ``SyncError``: `unreachable`, `tls`, `timedOut`, `truncated`, `notAPeer`, `tooLarge`,
    ///   `cancelled` for a connection or an answer that fails; the code that the peer answered with;
    ///   `invalid` for an answer that breaks the protocol.
    public func hello(_ hello: Hello) async throws -> Hello {
        try await message(WireHTTP.helloPath, hello)
    }

    /// As ``Transport/digest(_:)``, by `POST /v1/digest`.
    ///
    /// - Throws: As ``hello(_:)``.
    public func digest(_ request: DigestRequest) async throws -> DigestReply {
        try await message(WireHTTP.digestPath, request)
    }

    /// As ``Transport/pull(_:onFrame:)``, by `POST /v1/pull`.
    ///
    /// - Throws: As ``hello(_:)``, and what `onFrame` throws; the connection is closed then.
    public func pull(
        _ request: PullRequest, onFrame: @Sendable (Frame) async throws -> Void
    ) async throws -> PullEnd {
        let body = try translated { () throws(WireError) in try request.encoded() }
        let exchange = try begin(
            WireHTTP.pullPath, body: body, type: WireHTTP.messageType, bodyLimit: limits.largestBodyBytes,
            extraSeconds: request.waitSeconds, bodySeconds: seconds(ofBody: limits.largestBodyBytes))
        do {
            try await checkHead(of: exchange, type: WireHTTP.framesType)
            var answer = PullAnswer(peer: name, limits: limits)
            while let piece = try await exchange.next() { try await answer.take(piece, onFrame: onFrame) }
            return try answer.finish()
        } catch {
            exchange.cancel()
            throw error
        }
    }

    /// As ``Transport/push(_:)``, by `POST /v1/push`. The stream is in memory as a whole.
    ///
    /// - Throws: As ``hello(_:)``.
    public func push(_ frames: [Frame]) async throws -> PushReply {
        var body: [UInt8] = []
        for frame in frames { try translated { () throws(WireError) in try frame.encode(into: &body) } }
        let answer = try await answer(
            WireHTTP.pushPath, body: body, bodyType: WireHTTP.framesType, type: WireHTTP.messageType,
            extraSeconds: limits.secondsToApply(body.count))
        let reply = try translated { () throws(WireError) in try PushReply(decoding: answer, limits: limits) }
        guard let refusal = reply.refusal else { return reply }
        throw SyncError(
            httpStatus: refusal.status, body: refusal.body, peer: name,
            retryAfter: refusal.retryAfterSeconds.map { String($0) }, limits: limits)
    }

    /// Returns the answer to a `GET` of one of the routes for people and programs besides the protocol, such
    /// as `/v1/status`.
    ///
    /// - Parameters:
    ///   - path: The path of the request.
    ///   - type: The media type that the answer must have.
    /// - Throws: As ``hello(_:)``; an answer of another type is `notAPeer`.
    public func get(_ path: String, type: String) async throws -> [UInt8] {
        try await answer(path, body: nil, type: type)
    }

    /// Returns the answer to a `POST` of JSON, for routes besides the protocol, such as `/v1/wait`.
    ///
    /// - Parameter waitSeconds: For how long the peer may wait before it answers.
    /// - Throws: As ``hello(_:)``; an answer that is no JSON is `notAPeer`.
    package func post(_ path: String, json: [UInt8], waitSeconds: Int) async throws -> [UInt8] {
        try await answer(
            path, body: json, bodyType: "application/json", type: "application/json", extraSeconds: waitSeconds)
    }

    // MARK: Requests

    private func message<Answer: WireMessage>(_ path: String, _ request: some WireMessage) async throws -> Answer {
        let body = try translated { () throws(WireError) in try request.encoded() }
        let answer = try await answer(
            path, body: body, bodyType: WireHTTP.messageType, type: WireHTTP.messageType)
        return try translated { () throws(WireError) in try Answer(decoding: answer, limits: limits) }
    }

    /// Returns the whole body of an answer that is not a stream.
    private func answer(
        _ path: String, body: [UInt8]?, bodyType: String? = nil, type: String, extraSeconds: Int = 0
    ) async throws -> [UInt8] {
        let exchange = try begin(
            path, body: body, type: bodyType, bodyLimit: limits.messageBytes, extraSeconds: extraSeconds,
            bodySeconds: seconds(ofBody: body?.count ?? 0))
        do {
            try await checkHead(of: exchange, type: type)
            var answer: [UInt8] = []
            while let piece = try await exchange.next() { answer += piece }
            return answer
        } catch {
            exchange.cancel()
            throw error
        }
    }

    private func checkHead(of exchange: CurlExchange, type: String) async throws {
        let head = try await exchange.head()
        guard head.status == 200 else {
            var body: [UInt8] = []
            // A failure to read the error body does not hide the status.
            while body.count <= limits.errorBodyBytes, let piece = try? await exchange.next() { body += piece }
            throw SyncError(
                httpStatus: head.status, body: body, peer: name, retryAfter: head.retryAfter, limits: limits)
        }
        guard WireHTTP.matches(head.contentType, type) else {
            throw SyncError(
                .notAPeer, "\(name) answered with another content type than a Tandem peer",
                hint: "Is something else listening there, a proxy or a login page?")
        }
        guard head.contentEncoding == nil || head.contentEncoding == "identity" else {
            throw SyncError(.notAPeer, "\(name) answered with an encoding that was not asked for")
        }
    }

    private func begin(
        _ path: String, body: [UInt8]?, type: String?, bodyLimit: Int, extraSeconds: Int = 0, bodySeconds: Int = 0
    ) throws(SyncError) -> CurlExchange {
        let handle = try pool.take()
        try handle.setSafety()
        try handle.setTimes(limits, extraSeconds: extraSeconds, bodySeconds: bodySeconds)
        try handle.setTLS(configuration.tls)
        try handle.setSendRate(configuration.bytesPerSecond)
        try handle.set(CURLOPT_URL, url + path)
        var lines: [String] = []
        if let body { try handle.setBody(body) } else { try handle.set(CURLOPT_HTTPGET, 1) }
        if let type {
            lines += ["Content-Type: \(type)", "Accept: \(WireHTTP.messageType), \(WireHTTP.framesType)"]
        }
        // Without this header, libcurl waits a second for a "100 Continue" before a large body.
        lines.append("Expect:")
        if let token = configuration.token { lines.append("Authorization: Bearer \(token.value)") }
        let headers = CurlHeaders(lines)
        try handle.set(headers)
        let pool = pool
        let party = CurlParty(name: name, kind: .replica, isPlain: name.hasPrefix("http://"))
        let exchange = CurlExchange(
            handle, party: party, bodyLimit: bodyLimit, bytesPerSecond: configuration.bytesPerSecond, limits: limits
        ) { handle in
            pool.giveBack(handle)
            withExtendedLifetime(headers) {}
        }
        exchange.start()
        return exchange
    }

    /// The seconds that a body may take on top of other requests, at the rate that the peer may have.
    private func seconds(ofBody bytes: Int) -> Int {
        max(limits.extraSeconds(ofBody: bytes), configuration.bytesPerSecond.map { bytes / max($0, 1) } ?? 0)
    }

    private func translated<T>(_ body: () throws(WireError) -> T) throws(SyncError) -> T {
        do {
            return try body()
        } catch {
            throw SyncError(error)
        }
    }
}

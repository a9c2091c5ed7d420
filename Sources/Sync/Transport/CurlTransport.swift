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
            WireHTTP.pullPath, body: body, type: WireHTTP.messageType, bodyLimit: limits.streamBodyBytes,
            extraSeconds: request.waitSeconds)
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
        for frame in frames { body += try translated { () throws(WireError) in try frame.encoded() } }
        let answer = try await answer(
            WireHTTP.pushPath, body: body, bodyType: WireHTTP.framesType, type: WireHTTP.messageType)
        return try translated { () throws(WireError) in try PushReply(decoding: answer, limits: limits) }
    }

    /// Returns the answer to a `GET` of one of the routes for people and programs besides the protocol, such
    /// as `/v1/status`.
    ///
    /// - Parameter type: The media type that the answer must have.
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
            path, body: body, type: bodyType, bodyLimit: limits.messageBytes, extraSeconds: extraSeconds)
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
        _ path: String, body: [UInt8]?, type: String?, bodyLimit: Int, extraSeconds: Int = 0
    ) throws(SyncError) -> CurlExchange {
        let handle = try pool.take()
        try setSafety(of: handle)
        try setTimes(of: handle, extraSeconds: extraSeconds)
        try setTLS(of: handle)
        try handle.set(CURLOPT_URL, url + path)
        var lines: [String] = []
        if let body { try handle.setBody(body) } else { try handle.set(CURLOPT_HTTPGET, 1) }
        if let type {
            lines += ["Content-Type: \(type)", "Accept: \(WireHTTP.messageType), \(WireHTTP.framesType)"]
        }
        // Without this header, libcurl waits a second for a "100 Continue" before a large body.
        lines.append("Expect:")
        if let token = configuration.token { lines.append("Authorization: Bearer \(token.value)") }
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines { list = curl_slist_append(list, line) }
        let headers = HeaderList(list)
        try handle.check(tandem_setopt_headers(handle.easy, list))
        let pool = pool
        let exchange = CurlExchange(handle, peer: name, bodyLimit: bodyLimit, limits: limits) { handle in
            pool.giveBack(handle)
            headers.free()
        }
        exchange.start()
        return exchange
    }

    private func setSafety(of handle: CurlHandle) throws(SyncError) {
        try handle.set(CURLOPT_NOSIGNAL, 1)
        try handle.set(CURLOPT_FOLLOWLOCATION, 0)
        try handle.set(CURLOPT_PROTOCOLS_STR, "http,https")
        try handle.set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
        try handle.set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        // An empty name also switches off a proxy from the environment.
        try handle.set(CURLOPT_PROXY, "")
        try handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        // Cookies, HSTS and alternative services are off unless a file or an engine is set.
        try handle.set(CURLOPT_HSTS_CTRL, 0)
        try handle.set(CURLOPT_TCP_KEEPALIVE, 1)
        try handle.set(CURLOPT_USERAGENT, "tandem/\(wireVersion)")
    }

    private func setTimes(of handle: CurlHandle, extraSeconds: Int) throws(SyncError) {
        try handle.set(CURLOPT_CONNECTTIMEOUT_MS, limits.connectTimeoutMilliseconds)
        try handle.set(CURLOPT_LOW_SPEED_LIMIT, limits.lowSpeedBytesPerSecond)
        try handle.set(CURLOPT_LOW_SPEED_TIME, limits.lowSpeedSeconds + extraSeconds)
        try handle.set(CURLOPT_TIMEOUT, limits.requestSeconds + extraSeconds)
    }

    private func setTLS(of handle: CurlHandle) throws(SyncError) {
        try handle.set(CURLOPT_SSL_VERIFYPEER, 1)
        try handle.set(CURLOPT_SSL_VERIFYHOST, 2)
        try handle.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let file = configuration.tls.authorities { try handle.set(CURLOPT_CAINFO, file) }
        if let file = configuration.tls.certificate { try handle.set(CURLOPT_SSLCERT, file) }
        if let file = configuration.tls.key { try handle.set(CURLOPT_SSLKEY, file) }
    }

    private func translated<T>(_ body: () throws(WireError) -> T) throws(SyncError) -> T {
        do {
            return try body()
        } catch {
            throw SyncError(error)
        }
    }
}

/// Header lines that libcurl reads during a transfer.
///
/// Unchecked: one thread creates the list before the transfer, and the transfer's thread frees it afterwards.
private final class HeaderList: @unchecked Sendable {
    private let list: UnsafeMutablePointer<curl_slist>?

    init(_ list: UnsafeMutablePointer<curl_slist>?) { self.list = list }

    func free() { curl_slist_free_all(list) }
}

import CCurl

/// A bucket of an S3 server, or the part of one behind a prefix.
///
/// libcurl sends and signs the requests; ``S3Request`` has the rules for that. The server is treated as hostile:
/// redirects are not followed, and headers, bodies, listings and times are bounded. Connections are reused.
///
/// ``create(_:_:)`` needs a server with conditional writes (`If-None-Match: *`). ``StoreAbilities/probe(_:key:)``
/// finds out. When a connection breaks, libcurl may send a request again, so a key can be taken by one's own write.
package final class S3Store: ObjectStore {
    package let name: String
    private let address: S3Address
    private let credentials: S3CredentialSource
    private let tls: TLSFiles
    private let bytesPerSecond: Int?
    private let limits: Limits
    private let clock: any SyncClock
    private let pool = CurlPool(idleHandles: 8)

    /// Objects in one answer to ``list(_:after:)``: the most that S3 servers give.
    private static let mostListed = 1_000
    /// How often a write is sent again that another write of the same key has disturbed.
    private static let mostConflicts: Int64 = 8

    /// Nothing is asked of the server yet.
    ///
    /// - Parameter bytesPerSecond: The most bytes a second, each way, of each request; nil for no bound.
    package init(
        _ address: S3Address, credentials: S3CredentialSource, tls: TLSFiles = TLSFiles(), bytesPerSecond: Int? = nil,
        limits: Limits = .standard, clock: any SyncClock = SystemClock()
    ) {
        self.address = address
        self.name = address.name
        self.credentials = credentials
        self.tls = tls
        self.bytesPerSecond = bytesPerSecond
        self.limits = limits
        self.clock = clock
    }

    // MARK: - Verbs

    package func create(_ key: String, _ bytes: [UInt8]) async throws -> Bool {
        let request = S3Request(method: .put, key: try inBucket(key), headers: ["if-none-match": "*"], body: bytes)
        var attempt: Int64 = 1
        while true {
            let (answer, failure) = try await send(request, "written to", "s3:PutObject")
            switch answer.status {
            case 412: return false
            case 409 where attempt < S3Store.mostConflicts:
                // Another write of this key was under way; by now it may have succeeded or failed.
                try await pause(milliseconds: Int64.random(in: 10...50) * attempt)
                attempt += 1
            default:
                try checkWritten(answer, failure)
                return true
            }
        }
    }

    package func replace(_ key: String, _ bytes: [UInt8]) async throws {
        let request = S3Request(method: .put, key: try inBucket(key), body: bytes)
        let (answer, failure) = try await send(request, "written to", "s3:PutObject")
        try checkWritten(answer, failure)
    }

    package func get(_ key: String, range: Range<Int>?) async throws -> [UInt8]? {
        var request = S3Request(method: .get, key: try inBucket(key))
        // An empty range cannot be asked for; one byte shows whether there is an object.
        let asked = range.map { max($0.lowerBound, 0)..<max($0.upperBound, $0.lowerBound + 1, 1) }
        if let asked { request.headers["range"] = "bytes=\(asked.lowerBound)-\(asked.upperBound - 1)" }
        let (answer, failure) = try await send(
            request, "read", "s3:GetObject", bodyLimit: limits.largestBodyBytes)
        switch answer.status {
        case 200, 206:
            let object = try S3Object(answer, asked: asked, store: name)
            return range.map { object.bytes(in: $0) } ?? object.bytes
        // The range begins behind the end.
        case 416 where asked != nil: return []
        case 404 where ["NoSuchKey", "NoSuchVersion"].contains(answer.problem?.code): return nil
        default: throw failure.error(answer)
        }
    }

    package func list(_ prefix: String, after: String?) async throws -> Listing {
        guard ObjectKey.isPrefix(prefix) else { throw S3Store.noKey(prefix) }
        let whole = inBucketPrefix + prefix
        var last = after.map { inBucketPrefix + $0 }
        // A bucket may hold objects that others have put there. A page of those only is followed by the next one.
        while true {
            let page = try await page(whole, after: last)
            let objects = page.objects.compactMap { object -> StoredObject? in
                var object = object
                object.key = String(decoding: object.key.utf8.dropFirst(inBucketPrefix.utf8.count), as: UTF8.self)
                return ObjectKey.isValid(object.key) ? object : nil
            }
            guard objects.isEmpty, page.isCut, let end = page.objects.last?.key else {
                return Listing(objects: objects, isCut: page.isCut && !objects.isEmpty)
            }
            last = end
        }
    }

    package func delete(_ key: String) async throws {
        let request = S3Request(method: .delete, key: try inBucket(key))
        let (answer, failure) = try await send(request, "changed", "s3:DeleteObject")
        switch answer.status {
        case 204: return
        case 200 where answer.body.isEmpty: return
        case 404 where answer.problem?.code == "NoSuchKey": return
        default: throw failure.error(answer)
        }
    }

    // MARK: - Pieces

    private var inBucketPrefix: String { address.prefix.isEmpty ? "" : address.prefix + "/" }

    private func inBucket(_ key: String) throws(SyncError) -> String {
        let whole = inBucketPrefix + key
        guard ObjectKey.isValid(key), whole.utf8.count <= ObjectKey.mostBytes else { throw S3Store.noKey(key) }
        return whole
    }

    private static func noKey(_ key: String) -> SyncError {
        SyncError(.failed, "\"\(key)\" is no key of an object store")
    }

    /// Every S3 server gives the tag of what was written. A page of something else has none.
    private func checkWritten(_ answer: S3Answer, _ failure: S3Failure) throws(SyncError) {
        guard answer.status == 200 else { throw failure.error(answer) }
        guard answer.head["etag"] != nil else {
            throw SyncError(
                .notAPeer, "\(name) does not answer like an S3 server",
                hint: "Is something else listening there, a proxy or a login page?")
        }
    }

    /// - Parameters:
    ///   - prefix: In the bucket.
    ///   - after: In the bucket.
    private func page(_ prefix: String, after: String?) async throws -> S3Listing {
        var request = S3Request(method: .get)
        request.query = ["list-type": "2", "max-keys": String(S3Store.mostListed), "prefix": prefix]
        if let after { request.query["start-after"] = after }
        let (answer, failure) = try await send(request, "listed", "s3:ListBucket", bodyLimit: limits.messageBytes)
        guard answer.status == 200 else { throw failure.error(answer) }
        do throws(S3Listing.Failure) {
            let listing = try S3Listing(answer.body, most: S3Store.mostListed)
            try listing.check(prefix: prefix, after: after)
            return listing
        } catch {
            throw SyncError(
                .notAPeer, "\(name) does not list like an S3 server: \(error.reason)",
                hint: "Is something else listening there, or has another program put objects between those of Tandem?")
        }
    }

    // MARK: - Requests

    /// Returns the answer, and what translates it if it is an error.
    ///
    /// - Parameters:
    ///   - operation: For messages.
    ///   - permission: For messages.
    ///   - bodyLimit: The most bytes of the answer's body.
    private func send(
        _ request: S3Request, _ operation: String, _ permission: String, bodyLimit: Int? = nil
    ) async throws -> (S3Answer, S3Failure) {
        var used = try credentials.current()
        var answer = try await answer(to: request, used, bodyLimit: bodyLimit ?? limits.errorBodyBytes)
        if answer.problem?.code == "ExpiredToken", let newer = try credentials.renewed(after: used) {
            used = newer
            answer = try await self.answer(to: request, used, bodyLimit: bodyLimit ?? limits.errorBodyBytes)
        }
        let failure = S3Failure(
            address: address, operation: operation, permission: permission, credentials: used,
            wallMilliseconds: clock.wallMilliseconds(), limits: limits)
        return (answer, failure)
    }

    private func answer(to request: S3Request, _ credentials: S3Credentials, bodyLimit: Int) async throws -> S3Answer {
        let exchange = try begin(request, credentials, bodyLimit: bodyLimit)
        do {
            let head = try await exchange.head()
            guard head.contentEncoding == nil || head.contentEncoding == "identity" else {
                throw SyncError(.notAPeer, "\(name) answered with an encoding that was not asked for")
            }
            var body: [UInt8] = []
            guard (200..<300).contains(head.status) else {
                // A failure to read the body of an error does not hide the status.
                while body.count <= limits.errorBodyBytes, let piece = try? await exchange.next() { body += piece }
                if body.count > limits.errorBodyBytes { exchange.cancel() }
                return S3Answer(head: head, body: body)
            }
            while let piece = try await exchange.next() { body += piece }
            return S3Answer(head: head, body: body)
        } catch {
            exchange.cancel()
            throw error
        }
    }

    private func begin(
        _ request: S3Request, _ credentials: S3Credentials, bodyLimit: Int
    ) throws(SyncError) -> CurlExchange {
        let handle = try pool.take()
        try handle.setSafety()
        let bodySeconds = bytesPerSecond.map { max(request.body.count, bodyLimit) / max($0, 1) } ?? 0
        try handle.setTimes(limits, bodySeconds: bodySeconds)
        try handle.setTLS(tls)
        try handle.setSendRate(bytesPerSecond)
        try handle.set(CURLOPT_URL, request.url(address))
        try handle.set(CURLOPT_AWS_SIGV4, "aws:amz:\(address.region):s3")
        try handle.set(CURLOPT_USERNAME, credentials.accessKey)
        try handle.set(CURLOPT_PASSWORD, credentials.secretKey)
        if request.method == .put { try handle.setBody(request.body) }
        try handle.set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        let headers = CurlHeaders(request.lines(credentials))
        try handle.set(headers)
        let pool = pool
        let party = CurlParty(name: name, kind: .store, isPlain: address.isPlain)
        let exchange = CurlExchange(
            handle, party: party, bodyLimit: bodyLimit, bytesPerSecond: bytesPerSecond, limits: limits
        ) { handle in
            pool.giveBack(handle)
            withExtendedLifetime(headers) {}
        }
        exchange.start()
        return exchange
    }

    private func pause(milliseconds: Int64) async throws(SyncError) {
        do {
            try await clock.sleep(milliseconds: milliseconds)
        } catch {
            throw SyncError(.cancelled, "The exchange with \(name) was stopped")
        }
    }
}

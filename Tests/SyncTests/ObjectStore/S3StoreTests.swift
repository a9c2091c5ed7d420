import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Sync

/// A clock whose time does not pass.
private struct StoppedClock: SyncClock {
    func wallMilliseconds() -> Int64 { 1_000_000_000_000 }
    func steadyMilliseconds() -> Int64 { 0 }
    func sleep(milliseconds: Int64) async throws {}
}

/// A clock whose every sleep is cancelled.
private struct CancelledClock: SyncClock {
    func wallMilliseconds() -> Int64 { 0 }
    func steadyMilliseconds() -> Int64 { 0 }
    func sleep(milliseconds: Int64) async throws { throw CancellationError() }
}

/// What a store of S3 makes of wrong and hostile answers.
@Suite struct S3StoreTests {
    private typealias Script = @Sendable (ScriptedServer.Connection) -> Void

    private enum Verb: CaseIterable { case create, replace, get, range, list, delete }

    private func call(_ verb: Verb, _ store: S3Store) async throws {
        switch verb {
        case .create: _ = try await store.create("a", [1])
        case .replace: try await store.replace("a", [1])
        case .get: _ = try await store.get("a")
        case .range: _ = try await store.get("a", range: 2..<4)
        case .list: _ = try await store.list("", after: nil)
        case .delete: try await store.delete("a")
        }
    }

    /// The error of a call that gets this answer.
    private func failure(
        _ verb: Verb = .get, limits: Limits = .standard, environment: [String: String] = FakeS3.environment,
        clock: any SyncClock = SystemClock(), times: Int = 1, _ answer: @escaping Script
    ) async throws -> SyncError {
        let server = try FakeS3()
        defer { server.stop() }
        for _ in 0..<times { server.script(answer) }
        let store = try server.store(environment: environment, limits: limits, clock: clock)
        let error = await #expect(throws: SyncError.self) { try await call(verb, store) }
        #expect(error.map { "\($0)".contains("canary") } == false)
        return try #require(error)
    }

    private func refusal(
        of verb: Verb = .get, _ status: String, _ code: String, _ more: String = ""
    ) async throws -> SyncError {
        try await failure(verb) { FakeS3.refuse($0, status, code, more) }
    }

    @Test("a store with a rate gets and sends no more than that a second", arguments: [true, false])
    func bandwidth(receives: Bool) async throws {
        let server = try FakeS3()
        defer { server.stop() }
        let bytes = [UInt8](repeating: 7, count: 256_000)
        server.put("shop/1/a", bytes)
        let store = try server.store(bytesPerSecond: 64_000)
        let time = try await ContinuousClock().measure {
            if receives {
                #expect(try await store.get("a") == bytes)
            } else {
                try await store.replace("a", bytes)
            }
        }
        // The buffers of the sockets take a part at once.
        #expect(time > .milliseconds(1_000), "\(time)")
    }

    // MARK: - Refusals

    @Test(
        "a refusal has its kind, a sentence and a hint",
        arguments: [
            ("403 Forbidden", "InvalidAccessKeyId", SyncError.Code.unauthorized, "keys"),
            ("403 Forbidden", "SignatureDoesNotMatch", .unauthorized, "secret key"),
            ("400 Bad Request", "InvalidToken", .unauthorized, "keys"),
            ("400 Bad Request", "ExpiredToken", .unauthorized, "expired"),
            ("403 Forbidden", "AccessDenied", .forbidden, "s3:GetObject"),
            ("403 Forbidden", "Whatever", .forbidden, "s3:GetObject"),
            ("404 Not Found", "NoSuchBucket", .notFound, "bucket"),
            ("404 Not Found", "Whatever", .notAPeer, "S3 server"),
            ("403 Forbidden", "QuotaExceeded", .storage, "full"),
            ("507 Insufficient Storage", "Whatever", .storage, "full"),
            ("400 Bad Request", "EntityTooLarge", .tooLarge, "size"),
            ("501 Not Implemented", "NotImplemented", .failed, "lacks"),
            ("500 Internal Server Error", "InternalError", .busy, "next try"),
            ("502 Bad Gateway", "Whatever", .busy, "next try"),
            ("503 Service Unavailable", "ServiceUnavailable", .busy, "next try"),
            ("301 Moved", "Whatever", .configuration, "Redirects"),
            ("418 No", "Whatever", .invalid, ""),
        ])
    func refusals(status: String, code: String, kind: SyncError.Code, hint: String) async throws {
        let error = try await refusal(status, code)
        #expect(error.code == kind)
        #expect(error.message.hasPrefix("s3://tandem/shop/1 cannot be read: "))
        #expect(error.message.contains(code))
        #expect(hint.isEmpty || error.hint?.contains(hint) == true, "\(error)")
    }

    @Test("each verb names the permission that it needs")
    func permissions() async throws {
        let needed: [(Verb, String)] = [
            (.create, "s3:PutObject"), (.replace, "s3:PutObject"), (.get, "s3:GetObject"), (.list, "s3:ListBucket"),
            (.delete, "s3:DeleteObject"),
        ]
        for (verb, permission) in needed {
            #expect(try await refusal(of: verb, "403 Forbidden", "AccessDenied").hint?.contains(permission) == true)
        }
    }

    @Test("a wrong region is named with the right one, however the server says it")
    func region() async throws {
        let said = try await refusal("400 Bad Request", "AuthorizationHeaderMalformed", "<Region>eu-west-1</Region>")
        #expect(said.code == .configuration)
        #expect(said.message.contains("is in the region eu-west-1, not in us-east-1"))
        #expect(said.hint?.contains("region=eu-west-1") == true)
        let header = try await failure(.create) {
            $0.respond(
                "301 Moved", type: "text/plain", [], extra: "x-amz-bucket-region: eu-west-1\r\nLocation: http://x/\r\n")
        }
        #expect(header.message.contains("eu-west-1"))
        let odd = try await refusal("400 Bad Request", "AuthorizationHeaderMalformed", "<Region>a b</Region>")
        #expect(!odd.message.contains("a b"))
    }

    @Test("a clock that is off is reported with both clocks")
    func clock() async throws {
        let clock = StoppedClock()
        let theirs = try await failure(clock: clock) {
            FakeS3.refuse($0, "403 Forbidden", "RequestTimeTooSkewed", "<ServerTime>2026-11-25T07:57:17Z</ServerTime>")
        }
        #expect(theirs.code == .clockSkew)
        #expect(theirs.message.contains("2026-11-25T07:57:17Z"))
        #expect(theirs.message.contains("2001-09-09T01:46:40Z"))
        let byHeader = try await failure(.list) {
            let xml = Array("<Error><Code>RequestTimeTooSkewed</Code></Error>".utf8)
            $0.respond("403 No", type: "text/xml", xml, extra: "Date: Wed, 25 Nov 2026 07:57:17 GMT\r\n")
        }
        #expect(byHeader.message.contains("Wed, 25 Nov 2026 07:57:17 GMT"))
    }

    @Test("a busy server says for how long, within the limit")
    func slowDown() async throws {
        for (status, code) in [("503 Slow Down", "SlowDown"), ("429 Too Many Requests", "Whatever")] {
            let error = try await failure(.replace) {
                let xml = Array("<Error><Code>\(code)</Code></Error>".utf8)
                $0.respond(status, type: "text/xml", xml, extra: "Retry-After: 7\r\n")
            }
            #expect(error.code == .tooManyRequests)
            #expect(error.retryAfterSeconds == 7)
            #expect(error.isRetryable)
        }
        let long = try await failure { $0.respond("503 No", type: "text/plain", [], extra: "Retry-After: 99999\r\n") }
        #expect(long.retryAfterSeconds == Limits.standard.retryAfterSeconds)
    }

    @Test("a secret that a server repeats does not get into the error")
    func echo() async throws {
        var environment = FakeS3.environment
        environment["AWS_SESSION_TOKEN"] = "token-canary"
        for secret in ["secret-canary/+=", "token-canary"] {
            let error = try await failure(environment: environment) {
                let xml = "<Error><Code>AccessDenied</Code><Message>You sent \(secret).</Message></Error>"
                $0.respond("403 Forbidden", type: "text/xml", Array(xml.utf8))
            }
            #expect(error.code == .forbidden)
        }
    }

    @Test("expired keys are read again from the file, and the request is sent with the new ones")
    func expired() async throws {
        let directory = TemporaryDirectory()
        let path = directory.file("credentials")
        @Sendable func write(_ token: String) throws {
            let secret = FakeS3.environment["AWS_SECRET_ACCESS_KEY"] ?? ""
            let text =
                "[default]\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = \(secret)\naws_session_token = \(token)\n"
            try Data(text.utf8).write(to: URL(filePath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        }
        try write("old")
        let server = try FakeS3()
        defer { server.stop() }
        let store = try server.store(environment: ["AWS_SHARED_CREDENTIALS_FILE": path])
        server.script { connection in
            try? write("new")
            FakeS3.refuse(connection, "400 Bad Request", "ExpiredToken")
        }
        try await store.replace("a", [1])
        #expect(server.requests.map { $0.headers["x-amz-security-token"] } == ["old", "new"])
        server.script { FakeS3.refuse($0, "400 Bad Request", "ExpiredToken") }
        let error = await #expect(throws: SyncError.self) { try await store.get("a") }
        #expect(error?.code == .unauthorized)
    }

    @Test("a creation that another one disturbs is sent again, for a while")
    func conflicts() async throws {
        let server = try FakeS3()
        defer { server.stop() }
        for _ in 0..<3 { server.script { FakeS3.refuse($0, "409 Conflict", "ConditionalRequestConflict") } }
        #expect(try await server.store().create("a", [1]))
        #expect(server.requests.count == 4)
        let error = try await failure(.create, times: 100) {
            FakeS3.refuse($0, "409 Conflict", "ConditionalRequestConflict")
        }
        #expect(error.code == .busy)
    }

    @Test("the wait before a creation is sent again can be cancelled")
    func cancelledWait() async throws {
        let error = try await failure(.create, clock: CancelledClock()) {
            FakeS3.refuse($0, "409 Conflict", "ConditionalRequestConflict")
        }
        #expect(error.code == .cancelled)
    }

    @Test("a prefix that no key can have is refused, and nothing is asked of the server")
    func badPrefix() async throws {
        let server = try FakeS3()
        defer { server.stop() }
        let store = try server.store()
        for prefix in ["A", "/a", "a//", "../"] {
            let error = await #expect(throws: SyncError.self) { try await store.list(prefix, after: nil) }
            #expect(error?.code == .failed)
        }
        #expect(server.requests.isEmpty)
    }

    // MARK: - Answers that are none

    @Test("a page of HTML with status 200 is no S3 server")
    func html() async throws {
        for verb in Verb.allCases {
            let error = try await failure(verb) { $0.respond(type: "text/html", Array("<html>log in</html>".utf8)) }
            #expect(error.code == .notAPeer || verb == .delete, "\(verb): \(error)")
        }
    }

    @Test("an object that is cut is not taken", arguments: [false, true])
    func cut(isPart: Bool) async throws {
        let error = try await failure(isPart ? .range : .get) { connection in
            let status = isPart ? "206 Partial\r\nContent-Range: bytes 2-3/9" : "200 OK"
            connection.send("HTTP/1.1 \(status)\r\nETag: \"1\"\r\nContent-Length: 1000\r\n\r\nabc")
        }
        #expect(error.code == .truncated)
        let open = try await failure { $0.send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\n\r\nabc") }
        #expect(open.code == .notAPeer)
        let chunk = try await failure {
            $0.send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc")
        }
        #expect(chunk.code == .truncated)
    }

    @Test(
        "another part than was asked for is not taken",
        arguments: [
            "bytes 0-1/9", "bytes 2-4/9", "bytes 2-2/9", "bytes 2-3", "bytes 3-2/9", "pages 2-3/9", "bytes */9",
            "bytes 2-3/3",
        ])
    func otherPart(field: String) async throws {
        let error = try await failure(.range) {
            $0.respond("206 Partial Content", type: "a/b", [1, 2], extra: "ETag: \"1\"\r\nContent-Range: \(field)\r\n")
        }
        #expect(error.code == .notAPeer)
        let none = try await failure(.range) {
            $0.respond("206 Partial Content", type: "a/b", [1, 2], extra: "ETag: \"1\"\r\n")
        }
        #expect(none.code == .notAPeer)
        let short = try await failure(.range) {
            $0.respond("206 Partial", type: "a/b", [1], extra: "ETag: \"1\"\r\nContent-Range: bytes 2-3/9\r\n")
        }
        #expect(short.code == .truncated)
    }

    @Test("a server that knows no ranges gives the whole, and one that says 200 for a part gives the part")
    func rangesByStatus200() async throws {
        let server = try FakeS3()
        defer { server.stop() }
        let store = try server.store()
        server.script { $0.respond(type: "a/b", [0, 1, 2, 3, 4], extra: "ETag: \"1\"\r\n") }
        #expect(try await store.get("a", range: 2..<4) == [2, 3])
        server.script { $0.respond(type: "a/b", [2, 3], extra: "ETag: \"1\"\r\nContent-Range: bytes 2-3/5\r\n") }
        #expect(try await store.get("a", range: 2..<4) == [2, 3])
    }

    @Test("an encoding that was not asked for is refused")
    func encoding() async throws {
        let error = try await failure {
            $0.respond(type: "a/b", [1], extra: "ETag: \"1\"\r\nContent-Encoding: gzip\r\n")
        }
        #expect(error.code == .notAPeer)
    }

    @Test("bodies that never end are stopped at the limit")
    func endless() async throws {
        var small = Limits.standard
        small.streamBodyBytes = 1 << 20
        small.framePayloadBytes = 1 << 20
        small.messageBytes = 1 << 20
        for verb in [Verb.get, .range, .list, .replace] {
            let error = try await failure(verb, limits: small) { connection in
                connection.send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\n\r\n")
                let piece = [UInt8](repeating: 0x20, count: 64 << 10)
                while connection.send(piece) {}
            }
            #expect(error.code == .tooLarge)
        }
        let refusal = try await failure { connection in
            connection.send("HTTP/1.1 403 Forbidden\r\n\r\n<Error>")
            while connection.send([UInt8](repeating: 0x20, count: 64 << 10)) {}
        }
        #expect(refusal.code == .forbidden)
    }

    @Test("a server that says nothing times out, and one that hangs up is named")
    func silent() async throws {
        var impatient = Limits.standard
        impatient.lowSpeedSeconds = 1
        #expect(try await failure(.create, limits: impatient) { $0.waitForClose() }.code == .timedOut)
        let gone = try await failure(.list) { _ in }
        #expect(gone.code == .truncated)
        #expect(gone.message.contains("s3://tandem/shop/1"))
    }

    @Test("a port without a listener is unreachable, and nobody is told to start syncd")
    func refused() async throws {
        let server = try FakeS3()
        let store = try server.store()
        server.stop()
        let error = await #expect(throws: SyncError.self) { try await store.get("a") }
        #expect(error?.code == .unreachable)
        #expect(error?.hint?.contains("syncd") == false)
    }

    @Test("cancelling a task ends its request at once")
    func cancellation() async throws {
        let server = try FakeS3()
        defer { server.stop() }
        let (started, signal) = AsyncStream.makeStream(of: Void.self)
        server.script { connection in
            signal.yield()
            connection.waitForClose()
        }
        let store = try server.store()
        let task = Task { try await store.create("a", [1]) }
        for await _ in started { break }
        task.cancel()
        let error = await #expect(throws: SyncError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }

    // MARK: - Listings

    private static func object(
        _ key: String, size: String = "1", time: String = "2026-11-25T07:57:17Z", tag: String = "t"
    ) -> String {
        "<Contents><Key>\(key)</Key><Size>\(size)</Size><LastModified>\(time)</LastModified><ETag>\"\(tag)\"</ETag></Contents>"
    }

    private static func listing(_ objects: String, isCut: String = "false") -> String {
        "<ListBucketResult><IsTruncated>\(isCut)</IsTruncated>\(objects)</ListBucketResult>"
    }

    @Test(
        "a listing that is none, or has what was not asked for, is refused",
        arguments: [
            "", "<html></html>", "<ListBucketResult>", listing(object("other/a")), listing(object("shop/1")),
            listing(object("shop/1/b") + object("shop/1/a")), listing(object("shop/1/a") + object("shop/1/a")),
            listing(object("shop/1/a", size: "-1")), listing(object("shop/1/a", size: "x")),
            listing(object("shop/1/a", time: "yesterday")), listing("<Contents><Key>shop/1/a</Key></Contents>"),
            listing("", isCut: "maybe"),
            listing((0...1_000).map { object("shop/1/a\(10_000 + $0)") }.joined()),
        ])
    func badListings(xml: String) async throws {
        let error = try await failure(.list) { $0.respond(type: "application/xml", Array(xml.utf8)) }
        #expect(error.code == .notAPeer, "\(error)")
    }

    @Test("keys before the one that was given are refused")
    func listedTooEarly() async throws {
        let server = try FakeS3()
        defer { server.stop() }
        server.script {
            $0.respond(type: "text/xml", Array(S3StoreTests.listing(S3StoreTests.object("shop/1/a")).utf8))
        }
        let store = try server.store()
        let error = await #expect(throws: SyncError.self) { try await store.list("", after: "a") }
        #expect(error?.code == .notAPeer)
    }

    @Test("a listing has keys behind the prefix, sizes, tags and times")
    func listed() async throws {
        let server = try FakeS3()
        defer { server.stop() }
        let store = try server.store()
        try await store.replace("w/a", [1, 2, 3])
        let listing = try await store.list("w/", after: nil)
        let object = StoredObject(key: "w/a", size: 3, tag: "tag1", milliseconds: 1_795_593_437_250)
        #expect(listing == Listing(objects: [object], isCut: false))
        #expect(server.keys == ["shop/1/w/a"])
    }

    @Test("what others have put into the bucket is passed over, also when it fills whole answers")
    func strangers() async throws {
        let server = try FakeS3(pageSize: 2)
        defer { server.stop() }
        for key in [
            "shop/1/", "shop/1/A", "shop/1/B <&>", "shop/1/C", "shop/1/a", "shop/1/b c", "shop/1/z", "shop/10",
            "shop/2",
        ] {
            server.put(key)
        }
        #expect(try await server.store().listAll("").map(\.key) == ["a", "z"])
        for key in ["shop/1/a", "shop/1/z"] { try await server.store().delete(String(key.dropFirst("shop/1/".count))) }
        #expect(try await server.store().listAll("") == [])
        #expect(server.faults == [])
    }

    @Test("two stores with prefixes that begin alike do not see each other's objects")
    func prefixes() async throws {
        let server = try FakeS3()
        defer { server.stop() }
        let other = try server.store(server.address.replacingOccurrences(of: "shop/1", with: "shop/10"))
        let store = try server.store()
        try await store.replace("a", [1])
        try await other.replace("b", [2])
        #expect(try await store.listAll("").map(\.key) == ["a"])
        #expect(try await other.listAll("").map(\.key) == ["b"])
        #expect(try await store.get("b") == nil)
    }

    @Test("connections are used again")
    func connections() async throws {
        let server = try FakeS3()
        defer { server.stop() }
        let store = try server.store()
        for number in 0..<20 {
            try await store.replace("a", [UInt8(number)])
            #expect(try await store.get("a") == [UInt8(number)])
        }
        #expect(server.connections == 1)
    }
}

import TestSupport
import Testing

@testable import Sync

/// libcurl signs what it is given, so each rule of ``S3Request`` keeps a signature right. The fake server computes
/// the signatures itself.
@Suite struct S3RequestTests {
    /// Sends one request of each kind, and returns what arrived.
    ///
    /// - Parameter largest: Bytes of the largest body. Before more than a mebibyte, libcurl waits for a second.
    private func requests(
        token: String? = nil, largest: Int = 1 << 20
    ) async throws -> [ScriptedServer.Request] {
        let server = try FakeS3(pageSize: 2)
        defer { server.stop() }
        var environment = FakeS3.environment
        environment["AWS_SESSION_TOKEN"] = token
        let store = try server.store(environment: environment)
        _ = try await store.create("w/aa/0000000001", Array("first".utf8))
        _ = try await store.create("w/aa/0000000001", Array("second".utf8))
        try await store.replace("h/aa", [])
        try await store.replace("h/bb", [1])
        try await store.replace("h/cc", [UInt8](repeating: 7, count: largest))
        _ = try await store.get("w/aa/0000000001", range: nil)
        _ = try await store.get("w/aa/0000000001", range: 1..<3)
        _ = try await store.get("none", range: nil)
        _ = try await store.listAll("h/")
        try await store.delete("h/aa")
        #expect(server.faults == [])
        #expect(server.requests.count == 11)
        return server.requests
    }

    @Test("every signature is right, with and without a session token")
    func signatures() async throws {
        _ = try await requests()
        let token = "FwoGZXIvYXdzEJ//canary+token=="
        for request in try await requests(token: token) { #expect(request.headers["x-amz-security-token"] == token) }
    }

    @Test("the fake server refuses a wrong signature")
    func check() async throws {
        let server = try FakeS3(secretKey: "another")
        defer { server.stop() }
        let store = try server.store()
        let error = await #expect(throws: SyncError.self) { try await store.get("a") }
        #expect(error?.code == .unauthorized)
        #expect(server.faults.count == 1)
    }

    @Test("the query is sorted and percent-encoded, and every name has an equals sign")
    func query() async throws {
        let lists = try await requests().filter { $0.path.contains("list-type") }
        #expect(
            lists.map(\.path) == [
                "/tandem?list-type=2&max-keys=1000&prefix=shop%2F1%2Fh%2F",
                "/tandem?list-type=2&max-keys=1000&prefix=shop%2F1%2Fh%2F&start-after=shop%2F1%2Fh%2Fbb",
            ])
        var request = S3Request(method: .get)
        request.query = ["uploads": "", "b": "~-_.aZ9", "a": "+ =&/ä"]
        let address = try S3Address("s3://tandem?endpoint=http://h", environment: [:])
        #expect(request.url(address) == "http://h/tandem?a=%2B%20%3D%26%2F%C3%A4&b=~-_.aZ9&uploads=")
    }

    @Test("the hash of the body is always sent")
    func hashes() async throws {
        for request in try await requests() {
            #expect(request.headers["x-amz-content-sha256"] == hexadecimal(SHA256.digest(of: request.body)))
        }
    }

    @Test("Expect is never sent empty, and never for a body up to a mebibyte")
    func expect() async throws {
        for request in try await requests(largest: (1 << 20) + 1) {
            // libcurl asks before a large body. It neither signs that, nor may it be told not to.
            #expect(request.headers["expect"] == (request.body.count > 1 << 20 ? "100-continue" : nil))
        }
    }

    @Test("no header line is empty, and no header is signed that is not sent")
    func emptyLines() async throws {
        for request in try await requests(token: "t") {
            for line in request.headerLines { #expect(line.contains(": ") && line.last != " ", "\(line)") }
        }
    }

    @Test("no header's name begins with the name of another one")
    func names() async throws {
        for request in try await requests(token: "t") {
            let names = request.headerLines.compactMap { $0.split(separator: ":").first?.lowercased() }.sorted()
            #expect(names.count == Set(names).count)
            for (name, next) in zip(names, names.dropFirst()) { #expect(!next.hasPrefix(name), "\(name), \(next)") }
        }
    }

    @Test("there is one Host and no second version of HTTP")
    func host() async throws {
        for request in try await requests() {
            #expect(request.headerLines.filter { $0.lowercased().hasPrefix("host:") }.count == 1)
            #expect(request.line.hasSuffix(" HTTP/1.1"))
            #expect(request.headers["upgrade"] == nil)
        }
    }

    @Test("a creation is conditional, and other writes are not")
    func conditions() async throws {
        let writes = try await requests().filter { $0.line.hasPrefix("PUT ") }
        #expect(writes.map { $0.headers["if-none-match"] } == ["*", "*", nil, nil, nil])
        #expect(writes.allSatisfy { $0.headers["content-type"] == "application/octet-stream" })
        #expect(writes.allSatisfy { $0.headers["content-length"] == String($0.body.count) })
    }

    @Test("keys that libcurl or a server would write in another way are no keys")
    func keys() {
        for key in ["a", "a/b", "0-9.z/1", "a..b", String(repeating: "a", count: 1_024)] {
            #expect(ObjectKey.isValid(key))
        }
        for key in [
            "", "/", "a/", "/a", "a//b", ".", "..", "a/../b", "a/.b", "a+b", "a~b", "a=b", "a_b", "A", "a b", "%41",
            "é",
        ] {
            #expect(!ObjectKey.isValid(key))
        }
        #expect(!ObjectKey.isValid(String(repeating: "a", count: 1_025)))
        for prefix in ["", "a", "a/", "a/b-"] { #expect(ObjectKey.isPrefix(prefix)) }
        for prefix in ["/", "a//", "A", "../", "a/."] { #expect(!ObjectKey.isPrefix(prefix)) }
    }
}

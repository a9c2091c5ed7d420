import Foundation
import Synchronization

@testable import Sync

/// An S3 server in this process. It checks signatures, and keeps every request.
final class FakeS3: Sendable {
    static let bucket = "tandem"
    static let environment = ["AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret-canary/+="]

    private struct Object {
        var bytes: [UInt8]
        var number: Int
    }

    private struct State {
        var objects: [String: Object] = [:]
        var number = 0
        var requests: [ScriptedServer.Request] = []
        var faults: [String] = []
        /// Answers of the next requests, in place of the right ones.
        var scripted: [@Sendable (ScriptedServer.Connection) -> Void] = []
    }

    private let state: SharedState
    private let server: ScriptedServer
    private let pageSize: Int

    /// Shared with the thread of the server.
    private final class SharedState: Sendable {
        let mutex = Mutex(State())
    }

    /// - Parameter pageSize: Objects in one listing.
    init(pageSize: Int = 1_000, secretKey: String = "secret-canary/+=") throws {
        let state = SharedState()
        self.state = state
        self.pageSize = pageSize
        let check = SigV4Check(accessKey: "AKIDEXAMPLE", secretKey: secretKey, region: "us-east-1")
        server = try ScriptedServer { request, connection in
            let script = state.mutex.withLock { state in
                state.requests.append(request)
                if let fault = check.fault(of: request) { state.faults.append(fault) }
                return state.scripted.isEmpty ? nil : state.scripted.removeFirst()
            }
            if let script {
                script(connection)
                return false
            }
            guard check.fault(of: request) == nil else {
                FakeS3.refuse(connection, "403 Forbidden", "SignatureDoesNotMatch")
                return true
            }
            FakeS3.answer(request, connection, state, pageSize)
            return true
        }
    }

    var address: String { "s3://\(FakeS3.bucket)/shop/1?endpoint=\(server.url)" }
    var requests: [ScriptedServer.Request] { state.mutex.withLock { $0.requests } }
    /// What was wrong with signatures.
    var faults: [String] { state.mutex.withLock { $0.faults } }
    var keys: [String] { state.mutex.withLock { $0.objects.keys.sorted() } }

    var connections: Int { server.connections }

    func stop() { server.stop() }

    /// Puts an object in place, as another program would.
    func put(_ key: String, _ bytes: [UInt8] = []) {
        state.mutex.withLock { $0.objects[key] = Object(bytes: bytes, number: 0) }
    }

    /// Answers the next request in another way, and closes its connection.
    func script(_ answer: @escaping @Sendable (ScriptedServer.Connection) -> Void) {
        state.mutex.withLock { $0.scripted.append(answer) }
    }

    func store(
        _ address: String? = nil, environment: [String: String] = FakeS3.environment, bytesPerSecond: Int? = nil,
        limits: Limits = .standard, clock: any SyncClock = SystemClock()
    ) throws -> S3Store {
        try S3Store(
            S3Address(address ?? self.address, environment: [:]),
            credentials: S3CredentialSource(environment: environment),
            bytesPerSecond: bytesPerSecond, limits: limits, clock: clock)
    }

    // MARK: - Answers

    static func refuse(_ connection: ScriptedServer.Connection, _ status: String, _ code: String, _ more: String = "") {
        let xml = "<?xml version=\"1.0\"?>\n<Error><Code>\(code)</Code><Message>No &amp; no.</Message>\(more)</Error>"
        connection.respond(status, type: "application/xml", Array(xml.utf8))
    }

    private static func answer(
        _ request: ScriptedServer.Request, _ connection: ScriptedServer.Connection, _ shared: SharedState,
        _ pageSize: Int
    ) {
        guard let url = URLComponents(string: request.path), url.path.hasPrefix("/\(bucket)") else {
            return refuse(connection, "404 Not Found", "NoSuchBucket")
        }
        let key = String(url.path.dropFirst(bucket.count + 2))
        switch request.line.split(separator: " ")[0] {
        case "PUT":
            let number = shared.mutex.withLock { state -> Int? in
                if request.headers["if-none-match"] == "*", state.objects[key] != nil { return nil }
                state.number += 1
                state.objects[key] = Object(bytes: request.body, number: state.number)
                return state.number
            }
            guard let number else { return refuse(connection, "412 Precondition Failed", "PreconditionFailed") }
            connection.respond(type: "text/plain", [], extra: "ETag: \"tag\(number)\"\r\n")
        case "DELETE":
            shared.mutex.withLock { $0.objects[key] = nil }
            connection.send("HTTP/1.1 204 No Content\r\n\r\n")
        case "GET" where key.isEmpty:
            connection.respond(type: "application/xml", listing(url, shared, pageSize))
        case "GET":
            guard let object = shared.mutex.withLock({ $0.objects[key] }) else {
                return refuse(connection, "404 Not Found", "NoSuchKey")
            }
            get(object, request.headers["range"], connection)
        default: refuse(connection, "405 Method Not Allowed", "MethodNotAllowed")
        }
    }

    private static func get(_ object: Object, _ range: String?, _ connection: ScriptedServer.Connection) {
        let tag = "ETag: \"tag\(object.number)\"\r\n"
        guard let range else { return connection.respond(type: "binary/octet-stream", object.bytes, extra: tag) }
        let ends = range.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
        let size = object.bytes.count
        guard ends.count == 2, ends[0] < size else {
            return refuse(connection, "416 Range Not Satisfiable", "InvalidRange")
        }
        let last = min(ends[1], size - 1)
        connection.respond(
            "206 Partial Content", type: "binary/octet-stream", Array(object.bytes[ends[0]...last]),
            extra: tag + "Content-Range: bytes \(ends[0])-\(last)/\(size)\r\n")
    }

    private static func listing(_ url: URLComponents, _ shared: SharedState, _ pageSize: Int) -> [UInt8] {
        func value(_ name: String) -> String { url.queryItems?.first { $0.name == name }?.value ?? "" }
        let most = min(Int(value("max-keys")) ?? 1_000, pageSize)
        let objects = shared.mutex.withLock { $0.objects }
        let keys = objects.keys.filter { key in
            key.hasPrefix(value("prefix")) && value("start-after").utf8.lexicographicallyPrecedes(key.utf8)
        }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        var xml =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
        xml += "<Name>\(bucket)</Name><Prefix/><IsTruncated>\(keys.count > most)</IsTruncated>"
        for key in keys.prefix(most) {
            let object = objects[key]
            xml += "<Contents><Key>\(escaped(key))</Key><LastModified>2026-11-25T07:57:17.250Z</LastModified>"
            xml +=
                "<ETag>&quot;tag\(object?.number ?? 0)&quot;</ETag><Size>\(object?.bytes.count ?? 0)</Size></Contents>"
        }
        return Array((xml + "</ListBucketResult>").utf8)
    }

    private static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
    }
}

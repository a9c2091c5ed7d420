import Foundation
import Journal
import TestSupport
import Testing

@testable import Sync
@testable import SyncdCore

@Suite("A peer that fails, lies or attacks gets a sentence, a hint and status 1, and changes nothing here")
struct PeerTests {
    let workspace = Workspace()

    /// Runs `sync` against `peer`, and expects a refusal with `sentence` and an unchanged journal.
    private func expectRefusal(
        _ replica: String, _ peer: String, _ sentence: String, _ arguments: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let before = try content(replica)
        let outcome = try await Tool.run([Tool.path, "sync", replica, peer] + arguments)
        #expect(outcome.status == 1, "\(outcome)", sourceLocation: sourceLocation)
        #expect(outcome.errors.hasPrefix("Error: "), "\(outcome)", sourceLocation: sourceLocation)
        #expect(outcome.errors.contains(sentence), "\(outcome)", sourceLocation: sourceLocation)
        #expect(outcome.errors.contains("\nHint: "), "\(outcome)", sourceLocation: sourceLocation)
        #expect(try content(replica) == before, sourceLocation: sourceLocation)
    }

    private func content(_ path: String) throws -> String? {
        try workspace.value(
            path,
            """
            SELECT (SELECT group_concat(id || name || age) FROM (SELECT * FROM person ORDER BY id)) || '/'
              || (SELECT count(*) FROM _journal) || '/' || (SELECT count(*) FROM _journal_inbox)
            """, as: String.self)
    }

    /// Checks that a daemon and a second replica still exchange changes.
    private func expectGoodExchange(
        _ replica: String, with daemon: DaemonProcess, _ arguments: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let outcome = try await Tool.run([Tool.path, "sync", replica, daemon.url] + arguments)
        #expect(outcome.status == 0, "\(outcome)", sourceLocation: sourceLocation)
        let verified = try await Tool.run([Tool.path, "verify", replica, daemon.url] + arguments)
        #expect(verified.status == 0, "\(verified)", sourceLocation: sourceLocation)
    }

    @Test("two replicas exchange over HTTP, and nothing is sent a second time")
    func goodExchange() async throws {
        let a = try await workspace.makeReplica("a.sqlite", rows: 5)
        let b = try await workspace.makeReplica("b.sqlite", rows: 2)
        let daemon = try await DaemonProcess.start(a)
        try await expectGoodExchange(b, with: daemon)
        #expect(try workspace.value(b, "SELECT count(*) FROM person", as: Int.self) == 5)
        let again = try await Tool.run("sync", b, daemon.url)
        #expect(again.output.contains("pulled 0 changes (0 bytes), pushed 0 changes (0 bytes)"), "\(again)")
        #expect(await daemon.stop().status == 0)
    }

    @Test("an address without a listener, and an unknown name")
    func unreachable() async throws {
        let replica = try await workspace.makeReplica()
        let port = try HostileServer { _ in .init([]) }.port
        try await expectRefusal(replica, "http://127.0.0.1:\(port)", "127.0.0.1:\(port)")
        try await expectRefusal(replica, "http://nobody.invalid:7707", "nobody.invalid")
    }

    @Test(
        "an invalid address",
        arguments: ["ftp://a", "http://", "https://u:secret@host", "http://h/path", "http://h?x=1"])
    func badAddress(address: String) async throws {
        let replica = try await workspace.makeReplica()
        let outcome = try await Tool.run("sync", replica, address)
        #expect(outcome.status == 1)
        #expect(outcome.errors.hasPrefix("Error: "), "\(outcome)")
        #expect(outcome.errors.contains("\nHint: "), "\(outcome)")
        #expect(!outcome.errors.contains("secret"))
    }

    @Test("the address of a daemon without its scheme, which is no path either")
    func noScheme() async throws {
        let replica = try await workspace.makeReplica()
        let address = "127.0.0.1:7707"
        for command in [
            ["sync", replica, address], ["verify", replica, address], ["status", address],
            ["run", replica, "--peer", address],
        ] {
            let outcome = try await Tool.run([Tool.path] + command)
            #expect(outcome.status == 1, "\(outcome)")
            #expect(outcome.errors.contains("Hint: Put http:// or https:// before"), "\(outcome)")
        }
    }

    @Test("a path to a file that is no replica")
    func badPath() async throws {
        let replica = try await workspace.makeReplica()
        try await expectRefusal(replica, workspace.path("none.sqlite"), "There is no file at")
        try await expectRefusal(replica, workspace.directory.path, "is a directory")
        let plain = try workspace.makeDatabase("plain.sqlite")
        let before = FileManager.default.contents(atPath: plain)
        try await expectRefusal(replica, plain, "no change journal")
        #expect(FileManager.default.contents(atPath: plain) == before)
    }

    @Test("a wrong or missing token, and then the right one")
    func token() async throws {
        let a = try await workspace.makeReplica("a.sqlite")
        let b = try await workspace.makeReplica("b.sqlite")
        let right = try workspace.write("right-token-1234", to: "right")
        let wrong = try workspace.write("wrong-token-1234", to: "wrong")
        let daemon = try await DaemonProcess.start(a, "--token-file", right)
        try await expectRefusal(b, daemon.url, "401")
        try await expectRefusal(b, daemon.url, "401", "--token-file", wrong)
        try await expectGoodExchange(b, with: daemon, "--token-file", right)
        let log = await daemon.stop().log
        #expect(!log.contains("right-token") && !log.contains("wrong-token"))
    }

    @Test("a replica of another cluster, over HTTP and by path")
    func otherCluster() async throws {
        let a = try await workspace.makeReplica("a.sqlite", cluster: "shop")
        let b = try await workspace.makeReplica("b.sqlite", cluster: "bank")
        let c = try await workspace.makeReplica("c.sqlite", cluster: "shop")
        let daemon = try await DaemonProcess.start(a)
        try await expectRefusal(b, daemon.url, "cluster")
        try await expectRefusal(b, a, "cluster")
        try await expectGoodExchange(c, with: daemon)
    }

    @Test("a replica itself, by its path, by a link and through its daemon")
    func itself() async throws {
        let a = try await workspace.makeReplica("a.sqlite")
        try FileManager.default.createSymbolicLink(atPath: workspace.path("link"), withDestinationPath: a)
        try await expectRefusal(a, a, "identity")
        try await expectRefusal(a, workspace.path("link"), "identity")
        let daemon = try await DaemonProcess.start(a)
        try await expectRefusal(a, daemon.url, "identity")
        #expect(await daemon.stop().status == 0)
    }

    @Test("answers that no peer gives: HTML, garbage, another status, a redirect, an encoding, nothing")
    func garbage() async throws {
        let replica = try await workspace.makeReplica()
        let message = WireHTTP.messageType
        let page = Array("<html><body>Please sign in</body></html>".utf8)
        let behaviours: [(name: String, HostileServer.Behaviour)] = [
            ("a page", .answer(type: "text/html", page)),
            ("a page that says it is a message", .answer(type: message, page)),
            ("random bytes", .answer(type: message, (0..<1_000).map { _ in UInt8.random(in: 0...255) })),
            ("an empty message", .answer(type: message, [])),
            (
                "half a body",
                .init(Array("HTTP/1.1 200 OK\r\nContent-Type: \(message)\r\nContent-Length: 1000\r\n\r\nabc".utf8))
            ),
            ("no content", .answer("204 No Content", type: message, [])),
            ("a redirect", .answer("302 Found", type: message, [], headers: "Location: file:///etc/passwd\r\n")),
            (
                "a redirect to the same place",
                .answer("307 Temporary Redirect", type: message, [], headers: "Location: /v1/hello\r\n")
            ),
            ("a failure", .answer("500 Internal Server Error", type: "text/plain", Array("boom".utf8))),
            (
                "overload for ever",
                .answer("503 Service Unavailable", type: message, [], headers: "Retry-After: 1000000000\r\n")
            ),
            ("an encoding", .answer(type: message, page, headers: "Content-Encoding: gzip, gzip, gzip\r\n")),
            ("no HTTP", .init(Array("hello\r\n\r\n".utf8))),
            ("nothing", .init([])),
            (
                "headers without end",
                .init(
                    Array("HTTP/1.1 200 OK\r\n".utf8),
                    endless: Array("X-A: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n".utf8))
            ),
            (
                "a body without end",
                .init(
                    Array("HTTP/1.1 200 OK\r\nContent-Type: \(message)\r\n\r\n".utf8),
                    endless: [UInt8](repeating: 0x41, count: 1 << 16))
            ),
            (
                "an error body without end",
                .init(
                    Array("HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n\r\n".utf8),
                    endless: [UInt8](repeating: 0x5B, count: 1 << 16))
            ),
        ]
        for (name, behaviour) in behaviours {
            let server = try HostileServer { _ in behaviour }
            let before = try content(replica)
            let outcome = try await Tool.run("sync", replica, server.url)
            #expect(outcome.status == 1, "\(name): \(outcome)")
            #expect(outcome.errors.hasPrefix("Error: "), "\(name): \(outcome)")
            #expect(outcome.errors.contains(server.url), "\(name): \(outcome)")
            #expect(outcome.errors.contains("\nHint: "), "\(name): \(outcome)")
            #expect(server.requests >= 1, "\(name)")
            #expect(try content(replica) == before, "\(name)")
        }
    }

    @Test("a good hello, and then a pull that is garbage, cut off, endless, or expands a thousandfold")
    func hostilePull() async throws {
        let replica = try await workspace.makeReplica()
        let hello = try helloAnswer()
        let frames = WireHTTP.framesType
        let bomb = try bombFrame()
        let good = try Frame(body: .end(vector: VersionVector(), more: false)).encoded()
        let head = Array("HTTP/1.1 200 OK\r\nContent-Type: \(frames)\r\n\r\n".utf8)
        let behaviours: [(name: String, HostileServer.Behaviour)] = [
            ("garbage", .answer(type: frames, Array("TDM1 is what I am".utf8))),
            ("a stream without its end", .answer(type: frames, Array(good.dropLast(3)))),
            ("bytes after the end", .answer(type: frames, good + [1, 2, 3])),
            ("frames without end", .init(head, endless: bomb)),
            ("a bomb", .answer(type: frames, bomb + good)),
            (
                "a huge frame",
                .answer(type: frames, Array("TDM1".utf8) + [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
            ),
            ("another version", .answer(type: frames, Array("TDM9".utf8) + [UInt8](repeating: 0, count: 64))),
            (
                "more for ever",
                .answer(type: frames, try Frame(body: .end(vector: VersionVector(), more: true)).encoded())
            ),
        ]
        for (name, behaviour) in behaviours {
            let server = try HostileServer { path in path == WireHTTP.helloPath ? hello : behaviour }
            let before = try content(replica)
            let outcome = try await Tool.run("sync", replica, server.url)
            #expect(outcome.status == 1, "\(name): \(outcome)")
            #expect(outcome.errors.hasPrefix("Error: "), "\(name): \(outcome)")
            #expect(try content(replica) == before, "\(name)")
        }
    }

    @Test("a daemon that follows hostile and dead peers continues, and serves good ones")
    func daemonSurvives() async throws {
        let a = try await workspace.makeReplica("a.sqlite", rows: 5)
        let b = try await workspace.makeReplica("b.sqlite", rows: 1)
        let bomb = try bombFrame()
        let hello = try helloAnswer()
        let page = try HostileServer { _ in .answer(type: "text/html", Array("<html>".utf8)) }
        let bomber = try HostileServer { path in
            path == WireHTTP.helloPath ? hello : .answer(type: WireHTTP.framesType, bomb)
        }
        let silent = try HostileServer { _ in .init([], staysOpen: true) }
        let daemon = try await DaemonProcess.start(
            a, "--peer", page.url, "--peer", bomber.url, "--peer", silent.url, "--peer", "http://127.0.0.1:1")
        try await expectGoodExchange(b, with: daemon)
        let status = try await RawHTTP.request("GET", "/v1/status", port: daemon.port)
        #expect(status.status == 200)
        #expect(status.body.contains("last_error"))
        #expect(await daemon.stop().status == 0)
    }

    @Test(
        "half a push, garbage in a push, a bomb, another version, another cluster: 4xx, and the next good push is accepted"
    )
    func hostilePush() async throws {
        let a = try await workspace.makeReplica("a.sqlite")
        let b = try await workspace.makeReplica("b.sqlite")
        let daemon = try await DaemonProcess.start(a)
        let origin = OriginID.random()
        let open = try Frame(body: .open(cluster: "main", origin: origin)).encoded()
        let end = try Frame(body: .end(vector: VersionVector(), more: false)).encoded()
        let bodies: [(name: String, [UInt8])] = [
            ("half", Array((open + end).dropLast(5))), ("garbage inside", open + Array("garbage and more of it".utf8)),
            ("a bomb", open + (try bombFrame()) + end),
            ("another version", Array("TDM9".utf8) + [UInt8](repeating: 0, count: 64)),
            ("nothing", []), ("no opening", end), ("two openings", open + open + end),
            ("after the end", open + end + open),
            ("another cluster", try Frame(body: .open(cluster: "bank", origin: origin)).encoded() + end),
        ]
        let before = try content(a)
        for (name, body) in bodies {
            let answer = try await RawHTTP.request(
                "POST", "/v1/push", port: daemon.port, headers: [("Content-Type", WireHTTP.framesType)], body: body)
            #expect((400..<500).contains(answer.status), "\(name): \(answer)")
            #expect(answer.body.contains(#""code":"#), "\(name): \(answer)")
            #expect(try content(a) == before, "\(name)")
        }
        try await expectGoodExchange(b, with: daemon)
        #expect(await daemon.stop().status == 0)
    }

    // MARK: - Bytes of hostile peers

    private func helloAnswer() throws -> HostileServer.Behaviour {
        let other = OriginID.random()
        let hello = Hello(
            cluster: "main", origin: other, formatVersion: 1,
            vector: VersionVector([VersionVector.Entry(origin: other, version: 1_000)]),
            wallMilliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
        return .answer(type: WireHTTP.messageType, try hello.encoded())
    }

    /// A well-formed frame of some kilobytes that announces 200 MB, and decompresses to as much.
    private func bombFrame() throws -> [UInt8] {
        let size = 200 << 20
        let payload = try PayloadEncoding.zstd.compress([UInt8](repeating: 0, count: size))
        let cover = Cover(origin: .random(), first: 1, last: 1)
        return try Frame(body: .batch(covers: [cover], encoding: .zstd, rawSize: size), payload: payload).encoded()
    }
}

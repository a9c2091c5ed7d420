import Foundation
import Journal
import Testing

@testable import Sync

/// All cases and no samples: each prefix, each bit, each byte at which a connection can end.
@Suite("Damage of every kind at every place")
struct DamageTests {
    @Test("every prefix of a push is refused; its complete transactions are applied once")
    func prefixes() async throws {
        let target = try EndpointUnderAttack()
        let scene = try await target.settledScene()
        let frame = try Frame(scene.batch(), encoding: .none).encoded()
        let body = try scene.open() + frame + scene.end()
        let complete = try scene.open().count + frame.count
        for length in 0..<body.count {
            let (error, changed) = try await target.outcome(of: Array(body[..<length]), at: .push)
            #expect(error?.code == .truncated, "\(length): \(error.map { "\($0)" } ?? "taken")")
            #expect(changed.isEmpty == (length != complete), "\(length): \(changed)")
        }
        let (error, changed) = try await target.outcome(of: body, at: .push)
        #expect(error == nil && changed.isEmpty)
        try await target.expectSound()
    }

    @Test("every flipped bit of a push is refused, and nothing of its frame is applied")
    func flips() async throws {
        let target = try EndpointUnderAttack()
        let scene = try await target.settledScene()
        let frame = try Frame(scene.batch(), encoding: .none).encoded()
        let head = try scene.open() + frame
        let body = try head + scene.end()
        for bit in 0..<(head.count * 8) {
            var damaged = body
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            let (error, changed) = try await target.outcome(of: damaged, at: .push)
            #expect(error != nil && error?.code != .failed, "\(bit)")
            #expect(changed.isEmpty, "\(bit): \(changed)")
        }
        try await target.expectSound()
    }

    @Test(
        "every prefix and every flipped bit of a hello, a pull and a digest request is refused or served, and changes nothing"
    )
    func messages() async throws {
        let target = try EndpointUnderAttack()
        let scene = try await target.settledScene()
        var vector = VersionVector()
        vector.advance(OriginID(high: 8, low: 8), to: 300)
        let messages: [(HostileInput.Route, [UInt8])] = [
            (
                .hello,
                try scene.hello {
                    $0.vector = Tandem_V1_Vector(vector)
                    $0.sampleVersions = [9, 5]
                    $0.sampleDigests = [1, 2]
                    $0.instance = wireData([1, 2, 3])
                }
            ),
            (.pull, try scene.pull { $0.have = Tandem_V1_Vector(vector) }),
            (
                .digest,
                try scene.digest(
                    .rows(
                        shape: TableShape(table: "person", columns: ["id", "name"], keyCount: 1), after: [.text("p1")],
                        through: [.text("p9")]))
            ),
        ]
        var refused = 0
        for (route, message) in messages {
            let prefixes = (0..<message.count).map { Array(message[..<$0]) }
            let flips = (0..<(message.count * 8)).map { bit in
                var damaged = message
                damaged[bit / 8] ^= 1 << UInt8(bit % 8)
                return damaged
            }
            for damaged in prefixes + flips {
                // A flipped bit of the waiting time makes the daemon wait. Another test covers that.
                if route == .pull, (try? PullRequest(decoding: damaged, limits: .standard))?.waitSeconds ?? 0 > 0 {
                    continue
                }
                let (error, changed) = try await target.outcome(of: damaged, at: route)
                #expect(error?.code != .failed, "\(route) \(damaged): \(error.map { "\($0)" } ?? "")")
                #expect(changed.isEmpty, "\(route) \(damaged): \(changed)")
                if error != nil { refused += 1 }
            }
        }
        #expect(refused > 500)
        try await target.expectSound()
    }

    @Test("a connection that ends at any byte of a push changes nothing, until the push is complete")
    func cuts() async throws {
        let workspace = Workspace()
        let path = try await workspace.makeReplica()
        let daemon = try await DaemonProcess.start(path)
        let scene = HostileScene(own: .random(), ownVersion: 0)
        let frame = try Frame(scene.batch(), encoding: .none).encoded()
        let body = try scene.open() + frame + scene.end()
        let request =
            Array(
                """
                POST /v1/push HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: \(WireHTTP.framesType)\r\n\
                Content-Length: \(body.count)\r\n\r\n
                """.utf8) + body
        let complete = try request.count - scene.end().count
        // The first contact takes up what `init` left, and records what was published.
        for (path, body) in [(WireHTTP.helloPath, try scene.hello()), (WireHTTP.pullPath, try scene.pull())] {
            let answer = try await RawHTTP.request(
                "POST", path, port: daemon.port, headers: [("Content-Type", WireHTTP.messageType)], body: body)
            #expect(answer.status == 200)
        }
        let before = try FileState(path)
        for length in 0..<complete { try RawHTTP.cut(request, after: length, port: daemon.port) }
        // In a daemon with few threads, a complete answer comes after everything that was accepted before it.
        #expect(try await RawHTTP.request("GET", "/v1/status", port: daemon.port).status == 200)
        let changes = try FileState(path).changes(since: before)
        #expect(changes.isEmpty, "\(changes)")
        for length in complete..<request.count where length.isMultiple(of: 2) {
            try RawHTTP.cut(request, after: length, port: daemon.port)
        }
        let answer = try await RawHTTP.send(request, to: daemon.port)
        #expect(answer.status == 200, "\(answer)")
        #expect(try workspace.value(path, "SELECT count(*) FROM person WHERE name = '\(HostileScene.canary)'") == 1)
        let (status, log) = await daemon.stop()
        #expect(status == 0)
        #expect(log.utf8.count < DaemonUnderAttack.logBytes)
    }
}

extension RawHTTP {
    /// Sends `length` bytes and resets the connection.
    fileprivate static func cut(_ bytes: [UInt8], after length: Int, port: Int) throws {
        let descriptor = try connect(to: port)
        defer { close(descriptor) }
        _ = bytes[..<length].withUnsafeBytes {
            Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if length.isMultiple(of: 2) {
            // The daemon has finished with the connection when it closes its half.
            shutdown(descriptor, Int32(SHUT_WR))
            var byte: UInt8 = 0
            while recv(descriptor, &byte, 1, 0) > 0 {}
        } else {
            // Closing with SO_LINGER 0 sends RST instead of FIN.
            var abrupt = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &abrupt, socklen_t(MemoryLayout<linger>.size))
        }
    }
}

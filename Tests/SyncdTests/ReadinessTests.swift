import Testing

@testable import SyncdCore

@Suite("A daemon is ready, or says why it is not")
struct ReadinessTests {
    private let workspace = Workspace()

    @Test("a file that cannot be read is a reason at any time; a missing first exchange for 30 seconds")
    func reasons() {
        func at(_ milliseconds: Int64, _ contacts: [Bool], isReadable: Bool = true) -> Bool {
            Readiness(isReadable: isReadable, contacts: contacts, milliseconds: milliseconds) == .ready
        }
        #expect(at(0, []) && at(0, [true]) && at(0, [false, true]))
        #expect(!at(0, [false]) && !at(29_999, [false, false]) && at(30_000, [false]))
        #expect(!at(0, [], isReadable: false) && !at(90_000, [true], isReadable: false))
    }

    @Test("alone it is ready at once; with a peer, after the first exchange")
    func daemon() async throws {
        let first = try await DaemonProcess.start(try await workspace.makeReplica("a.sqlite"))
        let answer = try await RawHTTP.request("GET", "/readyz", port: first.port)
        #expect(answer.status == 200 && answer.body == "ready\n")
        let lonely = try await DaemonProcess.start(
            try await workspace.makeReplica("b.sqlite"), "--peer", "http://127.0.0.1:1")
        let refused = try await RawHTTP.request("GET", "/readyz", port: lonely.port)
        #expect(refused.status == 503 && refused.body.contains("no exchange with a peer"), "\(refused)")
        #expect(!refused.body.contains("127.0.0.1"))
        let follower = try await workspace.makeReplica("c.sqlite", rows: 0)
        let second = try await DaemonProcess.start(follower, "--peer", first.url)
        let token = try await Tool.run("status", first.url, "--json").output.firstMatch(of: /"token":"([^"]+)"/)?.1
        #expect(try await Tool.run("wait", second.url, String(try #require(token))).status == 0)
        var status = 0
        for _ in 0..<1_000 where status != 200 {
            status = try await RawHTTP.request("GET", "/readyz", port: second.port).status
        }
        #expect(status == 200)
    }
}

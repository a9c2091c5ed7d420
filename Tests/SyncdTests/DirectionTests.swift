import Foundation
import Testing

@testable import SyncdCore

@Suite("One direction of a peer and of a token", .timeLimit(.minutes(2)))
struct DirectionTests {
    private let workspace = Workspace()

    /// A daemon with the tokens of `AccessTests`, and a daemon that follows it in a direction, with one of these
    /// tokens. Both begin with the same three rows.
    private func pair(_ direction: String, token: String) async throws -> (
        followed: DaemonProcess, follower: DaemonProcess
    ) {
        let (a, b) = (workspace.path("a.sqlite"), try await workspace.makeReplica("b.sqlite"))
        let tokens = try workspace.write(try AccessTests.tokensFile(), to: "tokens")
        #expect(try await Tool.run("clone", b, a).status == 0)
        let followed = try await DaemonProcess.start(b, "--tokens", tokens)
        let config = """
            database: a.sqlite
            listen: 127.0.0.1:0
            token-file: \(try workspace.write(token, to: "token"))
            tokens: \(tokens)
            peer: [{url: "\(followed.url)", direction: \(direction)}]
            """
        let follower = try await DaemonProcess.start(
            configuration: try workspace.write(config, to: "a.yaml"), environment: [:])
        return (followed, follower)
    }

    private static let reader = [("Authorization", "Bearer read-secret")]

    private func insert(_ file: String, _ id: String) throws {
        try workspace.execute(workspace.path(file), "INSERT INTO person VALUES ('\(id)', 'x', 1)")
    }

    private func has(_ file: String, _ id: String) throws -> Bool {
        try workspace.value(workspace.path(file), "SELECT count(*) FROM person WHERE id = '\(id)'", as: Int.self) == 1
    }

    private func requests(_ daemon: DaemonProcess, _ route: String) async throws -> Bool {
        let answer = try await RawHTTP.request("GET", "/metrics", port: daemon.port, headers: Self.reader)
        return answer.body.contains(#"tandem_http_requests_total{route="\#(route)""#)
    }

    @Test(
        "with push, changes go to the peer, and nothing is asked for", arguments: ["push-secret", "replicate-secret"])
    func push(token: String) async throws {
        let (followed, follower) = try await pair("push", token: token)
        let news = try EventStream(followed, Self.reader)
        try insert("b.sqlite", "there")
        _ = try await news.next(with: "4</strong> changes in the journal")
        try insert("a.sqlite", "here")
        _ = try await news.next(with: "5</strong> changes in the journal")
        #expect(try has("b.sqlite", "here") && !has("a.sqlite", "there"))
        #expect(try await requests(followed, "push"))
        #expect(try await !requests(followed, "pull"))
        let page = try await RawHTTP.request("GET", "/", port: follower.port, headers: Self.reader).body
        #expect(page.contains("push only") && page.contains("All is well"), "\(page)")
        #expect(await follower.stop().status == 0)
    }

    @Test("with pull, changes come from the peer, and nothing is sent", arguments: ["pull-secret", "replicate-secret"])
    func pull(token: String) async throws {
        let (followed, follower) = try await pair("pull", token: token)
        let news = try EventStream(follower, Self.reader)
        try insert("a.sqlite", "here")
        _ = try await news.next(with: "4</strong> changes in the journal")
        try insert("b.sqlite", "there")
        _ = try await news.next(with: "5</strong> changes in the journal")
        #expect(try has("a.sqlite", "there") && !has("b.sqlite", "here"))
        #expect(try await requests(followed, "pull"))
        #expect(try await !requests(followed, "push"))
        let status = try await RawHTTP.request("GET", "/v1/status", port: follower.port, headers: Self.reader).body
        #expect(status.contains(#""direction":"pull""#) && status.contains(#""lag":null"#), "\(status)")
        let page = try await RawHTTP.request("GET", "/", port: follower.port, headers: Self.reader).body
        #expect(page.contains("gets nothing from here") && page.contains("All is well with 1 peer."), "\(page)")
        #expect(await follower.stop().status == 0)
    }

    @Test("a daemon that asks for more than its token may learns which scope is missing")
    func refused() async throws {
        let (followed, follower) = try await pair("both", token: "push-secret")
        let news = try EventStream(follower, Self.reader)
        _ = try await news.next(with: "does not have the scope replicate or pull")
        // What is allowed goes on.
        let there = try EventStream(followed, Self.reader)
        try insert("a.sqlite", "here")
        _ = try await there.next(with: "4</strong> changes in the journal")
        #expect(await follower.stop().status == 0)
    }
}

import Foundation
import Testing

@testable import SyncdCore

@Suite("The pages follow what happens", .timeLimit(.minutes(2)))
struct LivePageTests {
    private let workspace = Workspace()

    private func bearer(_ token: String) -> [(String, String)] { [("Authorization", "Bearer \(token)")] }

    @Test("a stream begins with every part, and then has only what changes")
    func changes() async throws {
        let path = try await workspace.makeReplica()
        let daemon = try await DaemonProcess.start(path)
        let stream = try EventStream(daemon)
        let first = try await stream.next(with: "event: change")
        for part in ["verdict", "figures", "charts", "topology", "conflict-count", "held-count", "origin-0"] {
            #expect(first.contains(#""\#(part)":"#), "\(part): \(first)")
        }
        #expect(first.contains("3</strong> changes in the journal"), "\(first)")
        try workspace.execute(path, "INSERT INTO person VALUES ('new', 'Eve', 1)")
        let second = try await stream.next(with: "event: change", "4</strong> changes in the journal")
        #expect(!second.contains(#""verdict":"#) && !second.contains(#""conflict-count":"#), "\(second)")
    }

    @Test("a change of a peer, a conflict and a peer that is gone are shown to all who look")
    func peers() async throws {
        let (a, b) = (try await workspace.makeReplica("a.sqlite"), workspace.path("b.sqlite"))
        let first = try await DaemonProcess.start(a)
        #expect(try await Tool.run("clone", first.url, b).status == 0)
        let second = try await DaemonProcess.start(b, "--peer", first.url)
        let streams = try (0..<3).map { _ in try EventStream(second) }
        for stream in streams { _ = try await stream.next(with: "All is well with 1 peer.", "follows 1 peer") }
        let followed = try EventStream(first)
        _ = try await followed.next(with: "1 replica follows this one")

        try workspace.execute(a, "UPDATE person SET age = 99 WHERE id = 'p1'")
        for stream in streams { _ = try await stream.next(with: "4</strong> changes in the journal") }
        #expect(await first.stop().status == 0)
        try workspace.execute(a, "UPDATE person SET name = 'here' WHERE id = 'p2'")
        try workspace.execute(b, "UPDATE person SET name = 'there' WHERE id = 'p2'")
        for stream in streams { _ = try await stream.next(with: "1 thing needs a look", "1 of them without success") }
        #expect(try await Tool.run("sync", b, a).status == 0)
        for stream in streams { _ = try await stream.next(with: "1 conflict waits for a decision.") }
    }

    @Test("a stream ends when its token is taken away, and needs one to begin")
    func tokens() async throws {
        let path = try await workspace.makeReplica()
        let tokens = try workspace.write(try AccessTests.tokensFile(), to: "tokens")
        let daemon = try await DaemonProcess.start(path, "--tokens", tokens)
        for token in ["wrong", "replicate-secret"] {
            let answer = try await RawHTTP.request("GET", "/events", port: daemon.port, headers: bearer(token))
            #expect(answer.status == (token == "wrong" ? 401 : 403) && !answer.body.contains("journal"), "\(answer)")
        }
        let stream = try EventStream(daemon, bearer("read-secret"))
        let other = try EventStream(daemon, bearer("admin-secret"))
        _ = try await stream.next(with: "event: change")
        let left = try AccessTests.tokensFile().split(separator: "\n").filter { !$0.hasPrefix("name1 ") }
        _ = try workspace.write(left.joined(separator: "\n"), to: "tokens")
        #expect(
            try await RawHTTP.request(
                "POST", "/v1/admin/reload", port: daemon.port, headers: bearer("admin-secret")
            ).status == 200)
        try workspace.execute(path, "INSERT INTO person VALUES ('secret', 'Eve', 1)")
        _ = try await other.next(with: "4</strong> changes in the journal")
        let end = try await stream.next(with: "event:")
        #expect(end.contains("event: end") && !end.contains("4</strong>"), "\(end)")
        try await stream.end()
    }

    @Test("a daemon that is told to stop ends its streams, and does not wait for browsers")
    func shutdown() async throws {
        let daemon = try await DaemonProcess.start(try await workspace.makeReplica())
        let streams = try (0..<8).map { _ in try EventStream(daemon) }
        for stream in streams { _ = try await stream.next(with: "event: change") }
        let clock = ContinuousClock()
        let start = clock.now
        let (status, log) = await daemon.stop()
        #expect(clock.now - start < Daemon.drainTime)
        #expect(status == 0 && !log.contains("cancelled"), "\(log)")
        for stream in streams { try await stream.end() }
    }

    @Test("the pages have one script, which is a file, and what works without scripts is there")
    func script() async throws {
        let daemon = try await DaemonProcess.start(try await workspace.makeReplica())
        let script = try await RawHTTP.request("GET", "/live.js", port: daemon.port)
        #expect(script.status == 200 && script.head.contains("text/javascript"), "\(script.head)")
        #expect(script.body.contains(#"EventSource("/events")"#))
        let page = try await RawHTTP.request("GET", "/", port: daemon.port)
        #expect(page.body.contains(#"<noscript><meta http-equiv="refresh" content="5"></noscript>"#), "\(page.body)")
        #expect(page.body.contains("nothing measured yet") || page.body.contains(#"<svg class="chart""#))
        let tables = try await RawHTTP.request("GET", "/tables", port: daemon.port)
        #expect(!tables.body.contains("<script"))
    }
}

import Foundation
import Testing

@testable import SyncdCore

@Suite("wait ends when a replica has what a token names")
struct WaitCommandTests {
    private let workspace = Workspace()

    /// The token that `status` prints, of a file or of a daemon.
    private func token(_ target: String) async throws -> String {
        struct Status: Decodable { let token: String }
        let outcome = try await Tool.run("status", target, "--json")
        return try JSONDecoder().decode(Status.self, from: Data(outcome.output.utf8)).token
    }

    private func post(_ body: String, _ daemon: DaemonProcess, type: String = "application/json") async throws
        -> RawHTTP.Answer
    {
        try await RawHTTP.request(
            "POST", "/v1/wait", port: daemon.port, headers: [("Content-Type", type)], body: Array(body.utf8))
    }

    @Test("a file: 0 when it is there, 4 when it is not in time, and no byte changes")
    func file() async throws {
        let a = try await workspace.makeReplica("a.sqlite")
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        let token = try await token(a)
        let text = try await Tool.run("status", a)
        #expect(text.output.contains(token), "\(text)")
        let before = try Data(contentsOf: URL(fileURLWithPath: b))
        let late = try await Tool.run("wait", b, token, "--timeout", "0")
        #expect(late.status == 4 && late.output == "The replica does not have it.\n" && late.errors.isEmpty, "\(late)")
        let json = try await Tool.run("wait", b, token, "--timeout", "1", "--json")
        #expect(json.status == 4 && json.output == #"{"token":"\#(token)","reached":false}"# + "\n", "\(json)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: b)) == before)

        let waiting = Task { try await Tool.run("wait", b, token, "--timeout", "100") }
        #expect(try await Tool.run("sync", b, a).status == 0)
        let outcome = try await waiting.value
        #expect(outcome.status == 0 && outcome.output == "The replica has it.\n", "\(outcome)")
    }

    @Test("a daemon: the wait ends with the change, and a wait that is over says so")
    func daemon() async throws {
        let a = try await workspace.makeReplica("a.sqlite")
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        let first = try await DaemonProcess.start(a)
        let second = try await DaemonProcess.start(b, "--peer", first.url)
        #expect(try await Tool.run("wait", second.url, try await token(first.url)).status == 0)
        try workspace.execute(a, "UPDATE person SET name = 'new' WHERE id = 'p1'")
        let newest = try await token(a)
        #expect(try await Tool.run("wait", second.url, newest, "--timeout", "100").status == 0)
        #expect(try workspace.value(b, "SELECT name FROM person WHERE id = 'p1'", as: String.self) == "new")

        let future = String(newest.prefix(32)) + "-1000"
        let late = try await Tool.run("wait", second.url, future, "--timeout", "1")
        #expect(late.status == 4 && late.output == "The replica does not have it after 1 s.\n", "\(late)")
        let answer = try await post(#"{"token": "\#(future)", "seconds": 0}"#, second)
        #expect(answer.status == 200 && answer.body == #"{"token":"\#(future)","reached":false}"#, "\(answer)")
        #expect(try await post(#"{"token": "\#(newest)"}"#, second).body.contains(#""reached":true"#))
        for daemon in [first, second] { #expect(await daemon.stop().status == 0) }
    }

    @Test(
        "a request that cannot be understood is refused",
        arguments: [
            "", "{", "[]", "{}", #"{"token": 1}"#, #"{"token": "nonsense"}"#,
            #"{"token": "0123456789abcdef0123456789abcdef-1", "seconds": -1}"#,
            #"{"token": "0123456789abcdef0123456789abcdef-1", "seconds": "many"}"#,
        ])
    func refusals(body: String) async throws {
        let daemon = try await DaemonProcess.start(try await workspace.makeReplica())
        let answer = try await post(body, daemon)
        #expect(answer.status == 400 && answer.body.contains(#""code":"invalid""#), "\(answer)")
        // A form of another site can send this type, but not JSON.
        #expect(try await post(body, daemon, type: "text/plain").status == 415)
        let large = #"{"token": ""# + String(repeating: "x", count: 5_000) + #""}"#
        #expect(try await post(large, daemon).status == 413)
    }

    @Test("a daemon of an earlier release, and what is no daemon, are named")
    func others() async throws {
        let token = String(repeating: "ab", count: 16) + "-7"
        let outcome = try await Tool.run("wait", "http://127.0.0.1:1", token)
        #expect(outcome.status == 1 && outcome.errors.contains("Hint: "), "\(outcome)")
        let path = try await Tool.run("wait", "127.0.0.1:7707", token)
        #expect(path.status == 1 && path.errors.contains("http://"), "\(path)")
    }
}

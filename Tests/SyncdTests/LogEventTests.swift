import Foundation
import Logging
import Sync
import Testing

@testable import SyncdCore

@Suite("The log and the names of its events")
struct LogEventTests {
    private let workspace = Workspace()

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private struct Line: Decodable {
        let time: String
        let level: String
        let event: String
        let message: String
        let peer: String?
        let hint: String?
    }

    private func lines(_ log: String) throws -> [Line] {
        try log.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }

    @Test("docs/OPERATIONS.md has a row with the level of each event, and no other")
    func documented() throws {
        let text = try String(contentsOf: Self.root.appending(path: "docs/OPERATIONS.md"), encoding: .utf8)
        let parts = text.components(separatedBy: "<!-- checked by LogEventTests: events -->\n")
        try #require(parts.count == 2)
        let rows = parts[1].prefix(while: { $0 != "#" }).matches(of: /\n\| `([a-z_.]+)` \| ([a-z]+) \| [^\n]+ \|/)
            .map { "\($0.1) \($0.2)" }
        var events = SyncEvent.allCases.map { "\($0.rawValue) \($0 == .intake ? "any" : $0.level.rawValue)" }
        events += DaemonEvent.allCases.map { "\($0.rawValue) \($0.level.rawValue)" }
        events.append("\(DaemonEvent.ofLibraries) any")
        #expect(rows.sorted() == events.sorted())
        #expect(Set(rows).count == rows.count)
    }

    @Test("each line that the daemon or replication logs has an event, and each event is logged somewhere")
    func sources() throws {
        var used: Set<String> = []
        var count = 0
        for folder in ["Sources/syncd", "Sources/Sync"] {
            let files = try FileManager.default.subpathsOfDirectory(atPath: Self.root.appending(path: folder).path)
            // The logger of the inbox names its event itself.
            for file in files where file.hasSuffix(".swift") && !file.hasPrefix("Inbox/") {
                let text = try String(
                    contentsOf: Self.root.appending(path: folder).appending(path: file), encoding: .utf8)
                let bare = text.matches(of: /logger\??\.(trace|debug|info|notice|warning|error|critical)\(/)
                #expect(bare.isEmpty, "\(file) logs without an event: \(bare.map { $0.0 })")
                used.formUnion(text.matches(of: /(?:\.log|\.about)\(\s*\.([A-Za-z]+)/).map { String($0.1) })
                count += 1
            }
        }
        #expect(count > 100)
        let cases = SyncEvent.allCases.map { "\($0)" } + DaemonEvent.allCases.map { "\($0)" }
        #expect(Set(cases).subtracting(used).isEmpty)
    }

    @Test("with --log-format json, each line is an object with its event and details")
    func json() async throws {
        let path = try await workspace.makeReplica()
        let token = try workspace.write("secret\n", to: "token")
        let daemon = try await DaemonProcess.start(
            path, "--log-format", "json", "--log-level", "debug", "--peer", "http://127.0.0.1:9", "--token-file", token)
        // It listens before it has tried to reach its peer.
        var answers = 0
        var answer: RawHTTP.Answer
        repeat {
            answer = try await RawHTTP.request(
                "GET", "/v1/status", port: daemon.port, headers: [("Authorization", "Bearer secret")])
            #expect(answer.status == 200)
            answers += 1
        } while !answer.body.contains("reached") && answers < 1_000
        let (status, log) = await daemon.stop()
        #expect(status == 0 && !log.contains("secret"))
        let lines = try lines(log)
        let failed = try #require(lines.first { $0.event == "peer.failed" })
        #expect(failed.peer == "http://127.0.0.1:9" && failed.level == "warning" && failed.message.contains("reached"))
        #expect(failed.time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil, "\(failed.time)")
        for event in ["request.answered", "daemon.stopped"] {
            #expect(lines.contains { $0.event == event }, "\(event): \(log)")
        }
        let known = Set(SyncEvent.allCases.map(\.rawValue) + DaemonEvent.allCases.map(\.rawValue) + ["library"])
        #expect(lines.allSatisfy { known.contains($0.event) })
    }

    @Test("the format of a running daemon follows the configuration; text has the event, too")
    func reloaded() async throws {
        _ = try await workspace.makeReplica("a.sqlite")
        let text = "database: a.sqlite\nlisten: 127.0.0.1:0\n"
        let file = try workspace.write(text, to: "a.yaml")
        let tokens = try workspace.write(try AccessTests.tokensFile(), to: "tokens")
        let daemon = try await DaemonProcess.start(
            configuration: try workspace.write(text + "tokens: \(tokens)\n", to: "a.yaml"), environment: [:])
        func reload() async throws -> Int {
            try await RawHTTP.request(
                "POST", "/v1/admin/reload", port: daemon.port, headers: [("Authorization", "Bearer admin-secret")]
            ).status
        }
        #expect(try await reload() == 200)
        _ = try workspace.write(text + "tokens: \(tokens)\nlog-format: json\n", to: "a.yaml")
        #expect(try await reload() == 200)
        _ = try workspace.write(text + "tokens: \(tokens)\nlog-format: xml\n", to: "a.yaml")
        #expect(try await reload() == 422)
        let log = await daemon.stop().log.split(separator: "\n").map(String.init)
        #expect(log.first?.contains("event=config.applied") == true, "\(log)")
        let rest = try lines(log.dropFirst().joined(separator: "\n"))
        #expect(rest.map(\.event) == ["config.applied", "config.refused", "daemon.stopped"], "\(log)")
        #expect(rest[0].message.contains("log-format") && rest[1].hint?.contains("text, json") == true)
        withExtendedLifetime(file) {}
    }

    @Test("lines in JSON keep their priority in the journal; details cannot replace what each line has")
    func line() throws {
        let line = JSONLogLine.text(
            .warning, "two\nlines \u{1B}", ["event": "a.b", "time": "now", "list": ["x", .dictionary(["k": "v"])]],
            time: Date(timeIntervalSince1970: 0))
        #expect(
            line == #"""
                {"time":"1970-01-01T00:00:00.000Z","level":"warning","event":"a.b","message":"two\nlines \u001b","list":["x",{"k":"v"}],"_time":"now"}
                """#)
        #expect(JSONLogLine.text(.info, "", [:], time: Date()).contains(#""event":"library""#))
        #expect(JournalLogHandler.prefix(.warning) == "<4>")
    }
}

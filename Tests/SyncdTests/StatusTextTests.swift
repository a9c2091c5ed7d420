import Foundation
import TestSupport
import Testing

@testable import SyncdCore

@Suite("The text of status has one layout")
struct StatusTextTests {
    private let workspace = Workspace()

    /// The labels of the lines, without those of peers and sizes, which change while a daemon runs.
    private func lines(_ outcome: Outcome) -> [String] {
        outcome.lines.map { $0.hasPrefix("file ") ? "file" : $0 }
    }

    @Test("for a file and for the daemon that serves it")
    func daemon() async throws {
        let path = try workspace.makeDatabase()
        #expect(try await Tool.run("init", path, "--accept").status == 0)
        let ofFile = try await Tool.run("status", path)
        #expect(ofFile.status == 0 && ofFile.output.contains("untracked  loose"), "\(ofFile)")
        let daemon = try await DaemonProcess.start(path)
        let ofDaemon = try await Tool.run("status", daemon.url)
        #expect(lines(ofDaemon) == lines(ofFile), "\(ofDaemon)")
        #expect(await daemon.stop().status == 0)
    }

    @Test("of a release with other fields: what is missing has no line, what is new follows at the end")
    func otherRelease() throws {
        let json = """
            {"origin": "00", "held": 2, "held_by_reason": {"unique": 2}, "peers": [{"url": "http://b:1", "lag": 3,
            "mismatches": [{"table": "t", "range_count": 1, "ranges": [{"after": {"id": 7}, "through": null}]}]}],
            "zeal": {"b": [1, null], "a": "x\\u001by"}, "untracked": [{"table": "t", "reason": "why", "cause": "odd"}]}
            """
        let text = try #require(StatusText(json.utf8)).text
        #expect(
            text == """
                replica    00
                held       2 (unique 2)
                untracked  t  why
                peer       http://b:1  3 changes behind
                DIFFERENT  http://b:1 holds other rows although both know the same changes: t in 1 range of keys: after id 7
                zeal       a x\\u{1b}y, b 1;\u{20}
                """)
    }

    @Test("nothing but an object is a status", arguments: ["", "[]", "1", "{", "null"])
    func noStatus(json: String) {
        #expect(StatusText(json.utf8)?.text == nil)
    }
}

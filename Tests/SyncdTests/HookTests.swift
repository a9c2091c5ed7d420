import Foundation
import Journal
import Synchronization
import Testing

@testable import SyncdCore

@Suite("Hooks", .timeLimit(.minutes(2)))
struct HookTests {
    private let workspace = Workspace()

    init() { ProcessSetup.ignoreSignals() }

    private final class Output: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private func run(
        _ command: String, input: String = "{}", limit: TimeInterval = 30
    ) async -> (HookCommand.Outcome, [String]) {
        let output = Output()
        let outcome = await HookCommand(command, input: input, limit: limit) { output.add($0) }.run()
        return (outcome, output.all)
    }

    @Test("a command gets its line, and what it prints and how it ends is known")
    func command() async {
        let (outcome, lines) = await run("read line; echo got $line; echo err >&2; exit 3", input: #"{"a": 1}"#)
        #expect(outcome == .exited(3) && lines == [#"got {"a": 1}"#, "err"])
        #expect(await run("kill -9 $$").0 == .exited(137))
        #expect(await run("exit 0").0 == .exited(0))
        let missing = await run("/nowhere/command")
        #expect(missing.0 == .exited(127) && missing.1.first?.contains("not found") == true, "\(missing)")
        // A line that fills the pipe of a command that reads nothing.
        #expect(await run("true", input: String(repeating: "x", count: 60_000)).0 == .exited(0))
    }

    @Test("a command that takes too long is killed with all that it has started, also when it has ended itself")
    func limit() async throws {
        let mark = workspace.path("mark")
        for command in [
            "sleep 600; echo late > \(mark)", "(sleep 600; echo late > \(mark)) & wait", "sleep 600 & exit 0",
            "exec >&- 2>&-; sleep 600",
        ] {
            let start = ContinuousClock.now
            let (outcome, _) = await run("echo $$ > \(workspace.path("pid")); \(command)", limit: 0.3)
            #expect(outcome == .timedOut && ContinuousClock.now - start < .seconds(20), "\(command): \(outcome)")
            let group = try String(contentsOfFile: workspace.path("pid"), encoding: .utf8)
            let pid = try #require(pid_t(group.trimmingCharacters(in: .whitespacesAndNewlines)))
            // Killed processes may be there until their new parent has noticed, so only live ones count.
            let left = try await Tool.run([
                "/bin/sh", "-c", "ps -o stat= -o pgid= -A | awk '$2 == \(pid) && $1 !~ /^Z/'",
            ])
            #expect(left.output.isEmpty, "\(command): \(left.output)")
        }
        #expect(!FileManager.default.fileExists(atPath: mark))
    }

    @Test("the end of the task kills the command")
    func cancelled() async {
        let (lines, started) = AsyncStream.makeStream(of: String.self)
        let task = Task {
            await HookCommand("echo begun; sleep 600", input: "{}", limit: 600) { started.yield($0) }.run()
        }
        for await line in lines {
            #expect(line == "begun")
            break
        }
        task.cancel()
        #expect(await task.value == .cancelled)
    }

    @Test("of much output, the first lines are kept, each up to a length")
    func output() async {
        let (outcome, lines) = await run("i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done")
        #expect(outcome == .exited(0) && lines.count == HookCommand.lines && lines.first == "line 0")
        let long = await run("head -c 1000000 /dev/zero | tr '\\0' x")
        #expect(long.1.map(\.count) == [HookCommand.lineLength])
    }

    @Test("news is what is more than before; what comes while a hook runs is told once, after it")
    func memory() {
        var now = HookSituation()
        now.held = 2
        now.newestConflict = 5
        now.mismatches = ["a": ["t"]]
        var memory = HookMemory(now)
        func isNews(_ kind: HookKind) -> Bool { memory.isNews(kind, now) }
        for kind in HookKind.allCases { #expect(isNews(kind) == false) }
        now.newestConflict = 9
        now.held = 1
        #expect(!isNews(.held))
        #expect(memory.newestConflict == 5 && isNews(.conflict) && memory.newestConflict == 9)
        now.newestConflict = 3
        #expect(!isNews(.conflict) && memory.newestConflict == 9)
        now.held = 2
        #expect(isNews(.held) && !isNews(.held))
        now.mismatches = [:]
        #expect(!isNews(.mismatch))
        now.mismatches = ["a": ["t"]]
        #expect(isNews(.mismatch) && !isNews(.mismatch))
        now.mismatches["b"] = ["u"]
        #expect(isNews(.mismatch))
    }

    @Test("a line names what is new, within bounds, and has no values")
    func line() async throws {
        let replica = try Replica.openReader(at: try await workspace.makeReplica())
        let report = try StatusReport(replica, countingRows: false)
        try replica.closeReader()
        var now = HookSituation()
        now.held = 3
        now.heldByReason = ["unique": 2, "check": 1]
        let tables = (0..<50).map { "table \($0) " + "e" + String(repeating: "\u{0}\u{301}", count: 1_000) }
        now.mismatches = Dictionary(uniqueKeysWithValues: (10..<90).map { ("http://peer\($0):1", tables) })
        let time = Date(timeIntervalSince1970: 0)
        let held = HookLine(.held, now, conflicts: [], report, time: time).text
        #expect(
            held
                == #"""
                {"event":"held","time":"1970-01-01T00:00:00.000Z","database":"\#(report.path)",\
                "origin":"\#(report.origin)","held":3,"by_reason":{"check":1,"unique":2}}
                """#.replacing("\\\n", with: ""))
        let mismatch = HookLine(.mismatch, now, conflicts: [], report, time: time).text
        #expect(mismatch.split(separator: "http://peer").count == 21 && !mismatch.contains("table 3"))
        #expect(mismatch.utf8.count < 60_000, "\(mismatch.utf8.count)")
    }

    @Test("a daemon tells its hooks of conflicts and held rows, one run at a time, and of old ones never")
    func daemon() async throws {
        let (a, b) = (try await workspace.makeReplica("a.sqlite", rows: 40), workspace.path("b.sqlite"))
        let first = try await DaemonProcess.start(a)
        #expect(try await Tool.run("clone", first.url, b).status == 0)
        #expect(await first.stop().status == 0)
        func clash(_ id: String) async throws {
            try workspace.execute(a, "UPDATE person SET name = 'a' || '\(id)' WHERE id = '\(id)'")
            try workspace.execute(b, "UPDATE person SET name = 'b' || '\(id)' WHERE id = '\(id)'")
            #expect(try await Tool.run("sync", b, a).status == 0)
        }
        try await clash("p1")
        let (log, gate) = (workspace.path("hook.log"), workspace.path("gate"))
        for number in 1...2 { #expect(mkfifo(gate + "\(number)", 0o600) == 0) }
        // Each run waits at a gate of its own before it ends.
        let command = "cat >> \(log); cat \(gate)$(wc -l < \(log))"
        let config = try workspace.write(
            "database: a.sqlite\nlisten: 127.0.0.1:0\non-conflict: \(command)\non-held: cat >> \(workspace.path("held"))\n",
            to: "a.yaml")
        let daemon = try await DaemonProcess.start(configuration: config, environment: [:])
        try await clash("p2")
        let gateOpen = try await passGate(gate + "1", "one")
        for number in 3...25 { try await clash("p\(number)") }
        try gateOpen()
        let again = try await passGate(gate + "2", "two")
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 2 && lines[0].contains(#""event":"conflict""#), "\(lines)")
        #expect(lines[0].contains(#""open":2,"new":[{"id":2,"#) && lines[0].contains(#""more":false"#), "\(lines)")
        #expect(lines[1].contains(#""open":25,"new":[{"id":3,"#) && lines[1].contains(#""more":true"#), "\(lines)")
        #expect(!lines.joined().contains("ap1") && !lines.joined().contains("bp2"))
        try again()
        let end = await daemon.stop()
        #expect(end.status == 0 && end.log.contains("on-conflict: one"), "\(end.log)")
        #expect(!FileManager.default.fileExists(atPath: workspace.path("held")))
    }

    /// Waits until a run is at the gate: a FIFO opens for writing when somebody reads it.
    ///
    /// - Returns: What lets the run end.
    private func passGate(_ path: String, _ text: String) async throws -> () throws -> Void {
        let handle: FileHandle = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try FileHandle(forWritingTo: URL(fileURLWithPath: path)) })
            }
        }
        return {
            try handle.write(contentsOf: Data("\(text)\n".utf8))
            try handle.close()
        }
    }
}

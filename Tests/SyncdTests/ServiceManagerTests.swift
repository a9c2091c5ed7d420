import Foundation
import Logging
import Testing

@testable import SyncdCore

@Suite("The daemon under a service manager")
struct ServiceManagerTests {
    let workspace = Workspace()

    @Test("it says when it is ready, gives signs of life, and says that it stops")
    func life() async throws {
        let socket = try NotifySocket(workspace.path("notify"))
        let daemon = try await DaemonProcess.start(
            try await workspace.makeReplica(),
            environment: ["NOTIFY_SOCKET": socket.path, "WATCHDOG_USEC": "20000"])
        // Signs of life begin with the start, before the listener is ready.
        #expect(try await nextNews(socket) == "READY=1\nSTATUS=Listening on \(daemon.url)")
        for _ in 1...3 { #expect(try await socket.next() == "WATCHDOG=1") }
        kill(daemon.processIdentifier, SIGTERM)
        #expect(try await nextNews(socket) == "STOPPING=1")
        #expect(await daemon.stop(0).status == 0)
    }

    /// Waits for the next message that is no sign of life.
    private func nextNews(_ socket: NotifySocket) async throws -> String {
        while true {
            let message = try await socket.next()
            if message != "WATCHDOG=1" { return message }
        }
    }

    @Test("an abstract address is reached, too")
    func abstract() async throws {
        let socket = try NotifySocket("@tandem-\(UUID().uuidString)")
        ServiceManager(environment: ["NOTIFY_SOCKET": socket.path]).tell(["READY=1", "STATUS=here"])
        #expect(try await socket.next() == "READY=1\nSTATUS=here")
    }

    @Test(
        "without a usable socket nothing is sent, and nothing fails",
        arguments: ["", "relative", "vsock:1:2", "/nowhere/notify", "/" + String(repeating: "n", count: 200)])
    func noSocket(path: String) {
        ServiceManager(environment: ["NOTIFY_SOCKET": path]).tell(["READY=1"])
    }

    @Test(
        "signs of life are due only when they are asked of this process",
        arguments: [
            (["WATCHDOG_USEC": "1000000"], true), ([:], false), (["WATCHDOG_USEC": "0"], false),
            (["WATCHDOG_USEC": "x"], false), (["WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "1"], false),
        ] as [([String: String], Bool)])
    func watchdog(environment: [String: String], isDue: Bool) {
        let manager = ServiceManager(environment: environment.merging(["NOTIFY_SOCKET": "/n"]) { $1 })
        #expect(manager.watchdogInterval == (isDue ? .seconds(1) : nil))
        #expect(ServiceManager(environment: environment).watchdogInterval == nil)
    }

    @Test(
        "a line for the journal begins with its priority, and stays one line",
        arguments: [
            (Logger.Level.debug, 7), (.info, 6), (.notice, 5), (.warning, 4), (.error, 3), (.critical, 2),
        ])
    func journal(level: Logger.Level, priority: Int) {
        let line = JournalLogHandler.line(level, "two\nlines", ["b": "2", "a": "1"])
        #expect(line == "<\(priority)>two\\nlines a=1 b=2")
    }

    @Test("errors have their priority when standard error goes to the journal")
    func journalStream() async throws {
        let script = """
            exec 2>"$0"; export JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2); exec "$1" status /nowhere
            """
        let path = workspace.path("log")
        let outcome = try await Tool.run(["/bin/sh", "-c", script, path, Tool.path])
        #expect(outcome.status == 1)
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 2 && lines.allSatisfy { $0.hasPrefix("<3>") }, "\(lines)")
    }
}

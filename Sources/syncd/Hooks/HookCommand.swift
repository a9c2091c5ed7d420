import Foundation
import Synchronization

/// One run of the command of a hook, by `/bin/sh -c`, in a process group of its own.
///
/// SIGPIPE must be ignored (``ProcessSetup/ignoreSignals()``). What it prints is read line by line. When its time is over, or it is cancelled, the group is killed.
final class HookCommand: Sendable {
    /// How a run ended.
    enum Outcome: Sendable, Hashable {
        /// The exit status; 128 and the number of the signal that ended it.
        case exited(Int32)
        case timedOut
        case cancelled
        /// It could not be started, with the reason.
        case failed(String)
    }

    /// The most lines of output that are passed on, and the most characters of one.
    static let lines = 50
    static let lineLength = 500

    private struct State {
        var group: pid_t?
        var isCancelled = false
    }

    private let command: String
    private let input: String
    private let limit: TimeInterval
    private let output: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - command: For the shell.
    ///   - input: Its standard input, at most 64 KiB, so that a command that does not read it is no obstacle.
    ///   - limit: The seconds after which it is killed.
    ///   - output: Called with each line of its standard output and standard error.
    init(_ command: String, input: String, limit: TimeInterval, output: @escaping @Sendable (String) -> Void) {
        self.command = command
        self.input = input
        self.limit = limit
        self.output = output
    }

    /// Runs the command to its end. Cancelling the task kills it.
    func run() async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // It waits for a process, which must not take a thread of the pool.
                Thread.detachNewThread { continuation.resume(returning: self.runBlocking()) }
            }
        } onCancel: {
            state.withLock { state in
                state.isCancelled = true
                if let group = state.group { HookCommand.kill(group) }
            }
        }
    }

    private func runBlocking() -> Outcome {
        let process = Process()
        let (stdin, stdout) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        // What the service manager says is for the daemon alone.
        let own: Set<String> = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "JOURNAL_STREAM"]
        process.environment = ProcessInfo.processInfo.environment.filter { !own.contains($0.key) }
        process.standardInput = stdin
        process.standardOutput = stdout
        process.standardError = stdout
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        let deadline = Date(timeIntervalSinceNow: limit)
        do {
            try process.run()
        } catch {
            return .failed("\(error.localizedDescription)")
        }
        let group = process.processIdentifier
        let isCancelled = state.withLock { state in
            state.group = group
            return state.isCancelled
        }
        if isCancelled { HookCommand.kill(group) }
        // A command that does not read its input has closed it.
        try? stdin.fileHandleForWriting.write(contentsOf: Data((input + "\n").utf8))
        try? stdin.fileHandleForWriting.close()
        let isComplete = read(stdout.fileHandleForReading.fileDescriptor, until: deadline)
        let rest = max(deadline.timeIntervalSinceNow, 0)
        let isInTime = isComplete && ended.wait(timeout: .now() + rest) == .success
        if !isInTime {
            // With what it has started: that may hold the output when the command itself has ended.
            HookCommand.kill(group)
            if process.isRunning { _ = Foundation.kill(group, SIGKILL) }
            ended.wait()
        }
        let wasCancelled = state.withLock { state in
            state.group = nil
            return state.isCancelled
        }
        if wasCancelled { return .cancelled }
        guard isInTime else { return .timedOut }
        let isSignal = process.terminationReason == .uncaughtSignal
        return .exited(process.terminationStatus + (isSignal ? 128 : 0))
    }

    /// Reads lines to the end of the output.
    ///
    /// - Returns: False when the time was over before.
    private func read(_ descriptor: Int32, until deadline: Date) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var line: [UInt8] = []
        var count = 0
        func pass() {
            defer { line = [] }
            guard !line.isEmpty, count < HookCommand.lines else { return }
            count += 1
            output(String(String(decoding: line, as: UTF8.self).prefix(HookCommand.lineLength)))
        }
        defer { pass() }
        while true {
            var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let milliseconds = max(deadline.timeIntervalSinceNow, 0) * 1_000
            let ready = poll(&wait, 1, Int32(min(milliseconds.rounded(.up), 1_000_000)))
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { return false }
            let received = Foundation.read(descriptor, &buffer, buffer.count)
            if received < 0, errno == EINTR { continue }
            guard received > 0 else { return true }
            for byte in buffer[..<received] {
                if byte == UInt8(ascii: "\n") {
                    pass()
                } else if line.count < HookCommand.lineLength * 4 {
                    line.append(byte)
                }
            }
        }
    }

    /// Kills a process and those that it has started.
    private static func kill(_ group: pid_t) { _ = Foundation.kill(-group, SIGKILL) }
}

import Foundation
import TestSupport

/// A running `syncd run` or `syncd hub`. It is killed when the value is released.
final class DaemonProcess: @unchecked Sendable {
    // Everything is set before the initializer returns, and Process is safe to signal from any thread.
    private let process = Process()
    private let errorReader: BackgroundReader

    /// The line that it printed once it listened; the first one of several databases.
    let greeting: String
    let port: Int
    /// The lines of all databases, and their ports.
    let greetings: [String]
    let ports: [Int]

    var url: String { "http://127.0.0.1:\(port)" }

    /// Starts the daemon on a free port and waits for its line.
    static func start(
        _ database: String, _ arguments: String..., environment: [String: String] = [:]
    ) async throws -> DaemonProcess {
        let listen = arguments.contains("--listen") ? [] : ["--listen", "127.0.0.1:0"]
        return try await start([database] + listen + arguments, environment)
    }

    /// Starts the daemon with a configuration file that names its databases and their addresses.
    ///
    /// - Parameter databases: How many they are.
    static func start(
        configuration file: String, databases: Int = 1, environment: [String: String] = [:]
    ) async throws -> DaemonProcess {
        try await start(["--config", file], environment, lines: databases)
    }

    /// Starts a hub on a free port, or where `--listen` says.
    static func startHub(_ archive: String, _ arguments: String...) async throws -> DaemonProcess {
        let listen = arguments.contains("--listen") ? [] : ["--listen", "127.0.0.1:0"]
        return try await start(["--store", archive] + listen + arguments, [:], command: "hub")
    }

    private static func start(
        _ arguments: [String], _ environment: [String: String], command: String = "run", lines: Int = 1
    ) async throws -> DaemonProcess {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try DaemonProcess(command, arguments, environment, lines) })
            }
        }
    }

    private init(
        _ command: String, _ arguments: [String], _ environment: [String: String], _ lines: Int
    ) throws {
        let output = Pipe()
        let errors = Pipe()
        process.executableURL = URL(fileURLWithPath: Tool.path)
        process.arguments = [command] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        errorReader = BackgroundReader(errors.fileHandleForReading)
        // The read ends with the line, or when the process ends and closes the pipe.
        greetings = (0..<lines).map { _ in
            String(decoding: output.fileHandleForReading.readLine(), as: UTF8.self)
        }
        ports = greetings.compactMap { $0.firstMatch(of: /https?:\/\/[^ ]*:(\d+)/).flatMap { Int($0.1) } }
        guard let greeting = greetings.first, let port = ports.first, ports.count == lines else {
            process.terminate()
            process.waitUntilExit()
            throw ToolError("the daemon does not listen: \(greetings)\(errorReader.finish())")
        }
        self.greeting = greeting
        self.port = port
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    var isRunning: Bool { process.isRunning }
    var processIdentifier: Int32 { process.processIdentifier }

    /// Sends the signal, waits for the end, and returns the exit status and what was logged.
    func stop(_ signal: Int32 = SIGTERM) async -> (status: Int32, log: String) {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in
                kill(process.processIdentifier, signal)
                process.waitUntilExit()
                continuation.resume(returning: (process.terminationStatus, errorReader.finish()))
            }
        }
    }
}

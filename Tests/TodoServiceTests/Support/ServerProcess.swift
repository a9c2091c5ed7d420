import Foundation
import TestSupport

/// A program of this package that serves on a port and prints its address once it does. Killed when the value
/// is released.
final class ServerProcess: @unchecked Sendable {
    // Everything is set before the initializer returns, and Process is safe to signal from any thread.
    private let process = Process()
    let port: Int

    /// Starts the program, which the build puts next to the running test bundle, and waits for its line.
    static func start(_ program: String, _ arguments: String...) async throws -> ServerProcess {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try ServerProcess(program, arguments) })
            }
        }
    }

    private init(_ program: String, _ arguments: [String]) throws {
        let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent(program)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        // The read ends with the line, or when the process ends and closes the pipe.
        let greeting = String(decoding: output.fileHandleForReading.readLine(), as: UTF8.self)
        guard let match = greeting.firstMatch(of: /http:\/\/127\.0\.0\.1:(\d+)/), let port = Int(match.1) else {
            process.terminate()
            process.waitUntilExit()
            throw ServerProcessError(description: "\(program) does not listen: \(greeting)")
        }
        self.port = port
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    var url: String { "http://127.0.0.1:\(port)" }

    /// Sends SIGTERM, waits for the end, and returns the exit status.
    func stop() async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in
                process.terminate()
                process.waitUntilExit()
                continuation.resume(returning: process.terminationStatus)
            }
        }
    }
}

struct ServerProcessError: Error, CustomStringConvertible {
    let description: String
}

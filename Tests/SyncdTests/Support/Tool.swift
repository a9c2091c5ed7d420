import Foundation
import TestSupport

/// The result of a finished command.
struct Outcome: Sendable, CustomStringConvertible {
    let status: Int32
    let output: String
    let errors: String

    var lines: [String] { output.split(separator: "\n").map(String.init) }
    var description: String { "status \(status)\n\(output)\(errors)" }
}

struct ToolError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The built `syncd`, run as a process of its own.
enum Tool {
    /// The path next to the running test bundle.
    static let path: String = {
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("syncd").path
    }()

    /// Far longer than any command of the tests takes.
    static let limit: TimeInterval = 120

    /// Runs `syncd` with these arguments to its end.
    static func run(_ arguments: String..., wrapper: [String] = []) async throws -> Outcome {
        try await run(wrapper + [path] + arguments)
    }

    /// Runs any program to its end.
    static func run(_ command: [String]) async throws -> Outcome {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try runBlocking(command) }) }
        }
    }

    private static func runBlocking(_ command: [String]) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        let output = Pipe()
        let errors = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let timer = DispatchSource.makeTimerSource()
        timer.schedule(deadline: .now() + limit)
        timer.setEventHandler { process.terminate() }
        timer.resume()
        defer { timer.cancel() }
        // Both pipes are read at once: a full pipe without a reader would block the process.
        let errorReader = BackgroundReader(errors.fileHandleForReading)
        let text = output.fileHandleForReading.readAll()
        let errorText = errorReader.finish()
        process.waitUntilExit()
        guard process.terminationReason == .exit else {
            throw ToolError("\(command) was killed by signal \(process.terminationStatus): \(errorText)")
        }
        return Outcome(
            status: process.terminationStatus, output: String(decoding: text, as: UTF8.self), errors: errorText)
    }
}

/// Reads a pipe to its end on a thread of its own.
final class BackgroundReader: @unchecked Sendable {
    // `data` is written by the thread before `done` is signalled, and read only after waiting for it.
    private var data = Data()
    private let done = DispatchSemaphore(value: 0)

    init(_ handle: FileHandle) {
        Thread.detachNewThread { [self] in
            data = handle.readAll()
            done.signal()
        }
    }

    func finish() -> String {
        done.wait()
        return String(decoding: data, as: UTF8.self)
    }
}

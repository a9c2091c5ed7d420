import Foundation

/// Runs another process to its end.
package enum Program {
    package struct Result: Sendable {
        package let status: Int32
        package let output: String
        package let errors: String
    }

    /// Runs a program found in PATH.
    ///
    /// - Parameter input: Its standard input; a few kilobytes at most.
    package static func run(_ command: [String], input: String = "") throws -> Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        let streams = (input: Pipe(), output: Pipe(), errors: Pipe())
        process.standardInput = streams.input
        process.standardOutput = streams.output
        process.standardError = streams.errors
        try process.run()
        try streams.input.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try streams.input.fileHandleForWriting.close()
        let output = streams.output.fileHandleForReading.readAll()
        let errors = streams.errors.fileHandleForReading.readAll()
        process.waitUntilExit()
        return Result(
            status: process.terminationStatus, output: String(decoding: output, as: UTF8.self),
            errors: String(decoding: errors, as: UTF8.self))
    }
}

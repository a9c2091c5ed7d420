import Foundation

/// A running command whose output is read line by line. It is killed when the value is released.
final class FollowedCommand: @unchecked Sendable {
    // One test reads its lines, one after the other; Process is safe to signal from any thread.
    private let process = Process()
    private let output = Pipe()

    init(_ arguments: String...) throws {
        process.executableURL = URL(fileURLWithPath: Tool.path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
    }

    deinit { end() }

    /// Waits for the next line.
    ///
    /// - Throws: ``ToolError`` when the command ends, or prints nothing for ``Tool/limit``.
    func nextLine() async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { [self] in continuation.resume(with: Result { try readLine() }) }
        }
    }

    func end() {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    private func readLine() throws -> String {
        var line: [UInt8] = []
        let descriptor = output.fileHandleForReading.fileDescriptor
        while true {
            var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, Int32(Tool.limit * 1_000)) > 0 else { throw ToolError("the command says nothing") }
            var byte: UInt8 = 0
            guard read(descriptor, &byte, 1) == 1 else { throw ToolError("the command has ended") }
            if byte == 10 { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
    }
}

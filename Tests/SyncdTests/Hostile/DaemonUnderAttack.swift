import Foundation
import Journal
import Testing

@testable import Sync

/// A daemon with a token, and the five assertions for each connection to it.
final class DaemonUnderAttack {
    /// The longest time of an answer in seconds.
    static let seconds = 20
    /// The most bytes that it may log for all inputs together.
    static let logBytes = 64 << 10

    private let workspace = Workspace()
    private let path: String
    private let daemon: DaemonProcess

    init() async throws {
        path = try await workspace.makeReplica()
        try workspace.execute(path, "UPDATE person SET name = '\(HostileScene.canary)'")
        daemon = try await DaemonProcess.start(
            path, "--token-file", try workspace.write(HostileScene.token, to: "token"))
        // The first contact takes up what was written without the library.
        _ = try await answers(to: HostileScene(own: .random(), ownVersion: 0).http("GET /v1/status HTTP/1.1"))
    }

    /// Sends the input and makes the assertions.
    func expect(_ input: HostileInput) async throws {
        guard case .daemon(let make) = input.target, case .status(let statuses) = input.outcome else { return }
        let name = Comment(rawValue: input.testDescription)
        let scene = HostileScene(own: .random(), ownVersion: 0)
        let before = try FileState(path)
        let memory = Memory.resident("\(daemon.processIdentifier)")
        let start = ContinuousClock.now
        let text = try await answers(to: try make(scene))
        #expect(ContinuousClock.now - start < .seconds(DaemonUnderAttack.seconds), name)
        let seen = text.matches(of: #/HTTP/1\.1 (\d{3}) /#).compactMap { Int($0.1) }
        #expect(statuses.contains(seen.first ?? 0), "\(name): \(text.prefix(300))")
        // The rest is the end of a connection whose body was not read, or an answer to a request of its own.
        #expect(seen.dropFirst().allSatisfy { $0 == 400 || statuses.contains($0) }, "\(name): \(text.prefix(300))")
        #expect(!text.contains(HostileScene.token) && !text.contains(HostileScene.canary), name)
        #expect(!text.contains("Access-Control-Allow"), name)
        let changes = try FileState(path).changes(since: before)
        #expect(changes.isEmpty, "\(name): \(changes)")
        #expect(Memory.resident("\(daemon.processIdentifier)") - memory < Memory.cap, name)
        #expect(daemon.isRunning, name)
        let next = try await answers(
            to: try scene.post(WireHTTP.helloPath, "Content-Length: \(scene.hello().count)", body: scene.hello()))
        #expect(next.hasPrefix("HTTP/1.1 200"), "\(name): the next good request fails: \(next.prefix(200))")
    }

    /// Makes the assertions after a table of inputs.
    func expectQuietEnd() async throws {
        let (status, log) = await daemon.stop()
        #expect(status == 0)
        #expect(!log.contains(HostileScene.token) && !log.contains(HostileScene.canary))
        #expect(log.utf8.count < DaemonUnderAttack.logBytes, "\(log.prefix(2_000))")
    }

    /// Everything that the daemon sends on one connection whose sending half is closed after `bytes`.
    private func answers(to bytes: [UInt8]) async throws -> String {
        let port = daemon.port
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try RawHTTP.exchange(bytes, with: port) })
            }
        }
    }
}

extension RawHTTP {
    /// Sends the bytes, closes the sending half, and reads to the end.
    fileprivate static func exchange(_ bytes: [UInt8], with port: Int) throws -> String {
        let descriptor = try connect(to: port)
        defer { close(descriptor) }
        send(bytes, on: descriptor)
        shutdown(descriptor, Int32(SHUT_WR))
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == ECONNRESET { break }
            if count < 0 { throw ToolError("no end of the answer within \(patience) s") }
            if count == 0 { break }
            received += buffer[..<count]
        }
        return String(decoding: received, as: UTF8.self)
    }
}

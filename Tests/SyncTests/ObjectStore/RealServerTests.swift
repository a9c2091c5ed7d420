import Foundation
import Synchronization
import Testing

@testable import Sync

/// What only a real server can show; see `scripts/store-test`.
@Suite(.serialized, .enabled(if: RealServer.isThere)) struct RealServerTests {
    @Test("a wrong secret key and an unknown key are refused as such", .enabled(if: RealServer.checksSignatures))
    func wrongKeys() async throws {
        for changes in [["AWS_SECRET_ACCESS_KEY": "wrong-canary"], ["AWS_ACCESS_KEY_ID": "nobody"]] {
            let store = try RealServer.store(changing: changes)
            let error = await #expect(throws: SyncError.self) { try await store.get("a") }
            #expect(error?.code == .unauthorized || error?.code == .forbidden, "\(error.map { "\($0)" } ?? "")")
            #expect(error.map { "\($0)".contains("canary") } == false)
        }
    }

    @Test("a bucket that is not there is named")
    func missingBucket() async throws {
        let url = ProcessInfo.processInfo.environment["TANDEM_S3_TEST_URL"] ?? ""
        let other = url.replacingOccurrences(of: "s3://", with: "s3://no-such-")
        let store = try RealServer.store(changing: ["TANDEM_S3_TEST_URL": other])
        await #expect(throws: SyncError.self) { try await store.list("", after: nil) }
        let error = await #expect(throws: SyncError.self) { try await store.get("a") }
        #expect(error?.code == .notFound, "\(error.map { "\($0)" } ?? "")")
        #expect(error?.message.contains("s3://no-such-") == true)
    }

    @Test("a certificate that nobody trusts is refused", .enabled(if: RealServer.authority != nil))
    func untrusted() async throws {
        let store = try RealServer.store(authority: nil)
        let error = await #expect(throws: SyncError.self) { try await store.get("a") }
        #expect(error?.code == .tls)
        #expect(error?.message.contains("certificate") == true)
    }

    @Test("what a killed server has acknowledged is there when it is back", .enabled(if: RealServer.restart != nil))
    func killed() async throws {
        let restart = try #require(RealServer.restart)
        let rounds = Int(ProcessInfo.processInfo.environment["TANDEM_S3_TEST_KILLS"] ?? "") ?? 3
        let store = try RealServer.store()
        let prefix = "kill/\(String(UInt64.random(in: .min ... .max), radix: 16))/"
        let progress = Progress()
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    var number = 0
                    while !progress.isOver.withLock({ $0 }) {
                        number += 1
                        let key = "\(prefix)\(writer)/\(number)"
                        let bytes =
                            Array("\(key) ".utf8) + [UInt8](repeating: UInt8(number & 0xFF), count: number % 3_000)
                        do {
                            if try await store.create(key, bytes) { progress.acknowledged.withLock { $0[key] = bytes } }
                        } catch {
                            progress.failures.withLock { $0 += 1 }
                            try? await Task.sleep(for: .milliseconds(20))
                        }
                    }
                }
            }
            for _ in 0..<rounds {
                try? await Task.sleep(for: .milliseconds(Int.random(in: 300...1_500)))
                let status = await withCheckedContinuation { continuation in
                    Thread { continuation.resume(returning: RealServerTests.run(restart)) }.start()
                }
                #expect(status == 0, "the server does not come back")
            }
            try? await Task.sleep(for: .milliseconds(500))
            progress.isOver.withLock { $0 = true }
        }
        let kept = progress.acknowledged.withLock { $0 }
        var lost: [String] = []
        for (key, bytes) in kept where try await patiently({ try await store.get(key) }) != bytes { lost.append(key) }
        #expect(lost == [], "acknowledged and lost")
        #expect(!kept.isEmpty)
        let listed = Set(try await patiently { try await store.listAll(prefix) }.map(\.key))
        #expect(kept.keys.allSatisfy(listed.contains))
        let failures = progress.failures.withLock { $0 }
        print("Kills: \(rounds), acknowledged: \(kept.count), failed meanwhile: \(failures), lost: \(lost.count).")
        for key in listed { try await store.delete(key) }
    }

    /// What the writers have done.
    private final class Progress: Sendable {
        let acknowledged = Mutex<[String: [UInt8]]>([:])
        let failures = Mutex(0)
        let isOver = Mutex(false)
    }

    /// Repeats a call that fails as one does while a server starts.
    private func patiently<T>(_ body: () async throws -> T) async throws -> T {
        for _ in 0..<100 {
            do {
                return try await body()
            } catch let error as SyncError where error.isRetryable {
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        return try await body()
    }

    private static func run(_ program: String) -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.standardInput = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return -1 }
        process.waitUntilExit()
        return process.terminationStatus
    }
}

import Foundation
import Store
import Synchronization

/// `make sanitize STRESS=1`: many tasks read and write at once, under the thread sanitizer, and no update may
/// be lost.
///
/// Environment: `TASKS` (100), `DURATION` (10 seconds), `SEED` (drawn and printed). The exit status is 1 when
/// a sum is wrong; the sanitizer exits with 66 after a race.
@main
struct StoreStress {
    static func main() async throws {
        let environment = ProcessInfo.processInfo.environment
        let tasks = environment["TASKS"].flatMap { Int($0) } ?? 100
        let seconds = environment["DURATION"].flatMap { Int($0) } ?? 10
        let seed = environment["SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 1...999_999)
        say("\(tasks) tasks, \(seconds) s, SEED=\(seed)")
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("store-stress-\(getpid())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let work = try StressWork(path: directory.appendingPathComponent("stress.sqlite").path)

        let listener = Task { await work.listen() }
        let end = ContinuousClock.now + .seconds(seconds)
        let operations = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    var random = StressRandom(state: seed &+ UInt64(task) &* 0x9E37_79B9_7F4A_7C15)
                    var count = 0
                    while ContinuousClock.now < end {
                        let (kind, number) = (random.next() % 10, random.next())
                        try await offPool { try work.step(kind, number) }
                        count += 1
                    }
                    return count
                }
            }
            var total = 0
            for try await count in group { total += count }
            return total
        }
        let problems = try work.check()
        try work.close()
        let events = await listener.value
        say("\(operations) operations, \(work.written) updates counted, \(events) events heard")
        for problem in problems { say("wrong: \(problem)") }
        if !problems.isEmpty { exit(1) }
        say("Stress: no update lost.")
    }

    /// Runs `body` on a thread that may block. Tasks have only as many threads as there are cores.
    private static func offPool(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
        }
    }

    private static func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
}

/// SplitMix64: one seed, one sequence.
struct StressRandom: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

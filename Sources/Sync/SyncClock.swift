import Foundation
import Journal

/// The time, as replication sees it.
public protocol SyncClock: Sendable {
    /// Milliseconds since 1970; may jump.
    func wallMilliseconds() -> Int64

    /// Milliseconds since some moment; never jumps back.
    func steadyMilliseconds() -> Int64

    /// - Throws: `CancellationError` when the task is cancelled before the time is over.
    func sleep(milliseconds: Int64) async throws
}

/// The time of the machine.
public struct SystemClock: SyncClock {
    private let start = ContinuousClock.now

    /// ``steadyMilliseconds()`` counts from here on.
    public init() {}

    /// The time of day, as the operating system has it.
    public func wallMilliseconds() -> Int64 { Int64(clampingMilliseconds: Date().timeIntervalSince1970) }

    /// Goes on while the machine is asleep.
    public func steadyMilliseconds() -> Int64 {
        let passed = (ContinuousClock.now - start).components
        return passed.seconds * 1_000 + passed.attoseconds / 1_000_000_000_000_000
    }

    /// Counts on while the machine is asleep.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before the time is over.
    public func sleep(milliseconds: Int64) async throws {
        try await Task.sleep(for: .milliseconds(milliseconds), clock: .continuous)
    }
}

extension Int64 {
    fileprivate init(clampingMilliseconds seconds: Double) {
        self = Int64(exactly: (seconds * 1_000).rounded()) ?? 0
    }
}

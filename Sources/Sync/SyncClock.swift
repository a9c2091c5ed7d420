import Foundation
import Journal

/// The clock that replication uses.
public protocol SyncClock: Sendable {
    /// The time of day in milliseconds since 1970; it may jump.
    func wallMilliseconds() -> Int64

    /// Milliseconds since an arbitrary moment; never decreases.
    func steadyMilliseconds() -> Int64

    /// Returns after `milliseconds`.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before the time is over.
    func sleep(milliseconds: Int64) async throws
}

/// The clock of the machine.
public struct SystemClock: SyncClock {
    private let start = ContinuousClock.now

    /// Creates a clock whose ``steadyMilliseconds()`` starts at 0.
    public init() {}

    /// The operating system's time of day, in milliseconds since 1970.
    public func wallMilliseconds() -> Int64 { Int64(clampingMilliseconds: Date().timeIntervalSince1970) }

    /// Milliseconds since this clock was created; the time in which the machine sleeps counts.
    public func steadyMilliseconds() -> Int64 {
        let passed = (ContinuousClock.now - start).components
        return passed.seconds * 1_000 + passed.attoseconds / 1_000_000_000_000_000
    }

    /// Returns after `milliseconds`; the time in which the machine sleeps counts.
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

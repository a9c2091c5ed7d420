import Journal
import Synchronization

/// A store for one command: a request that fails for a moment is sent again for a while.
///
/// Object stores answer some requests with an error now and then, and more of them while one of their machines is
/// replaced; clients are meant to send such a request again. What runs for ever needs no such patience, because its next
/// round does that.
///
/// A store that has never answered may have a wrong address, so it is not waited for.
package final class PatientStore: ObjectStore {
    private let base: any ObjectStore
    private let limits: Limits
    private let clock: any SyncClock
    /// 64 random bits at each call.
    private let entropy: @Sendable () -> UInt64
    private let hasAnswered = Mutex(false)

    package init(
        _ base: any ObjectStore, limits: Limits = .standard, clock: any SyncClock = SystemClock(),
        entropy: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
    ) {
        self.base = base
        self.limits = limits
        self.clock = clock
        self.entropy = entropy
    }

    package var name: String { base.name }

    package func create(_ key: String, _ bytes: [UInt8]) async throws -> Bool {
        try await patiently { try await base.create(key, bytes) }
    }

    package func replace(_ key: String, _ bytes: [UInt8]) async throws {
        try await patiently { try await base.replace(key, bytes) }
    }

    package func get(_ key: String, range: Range<Int>?) async throws -> [UInt8]? {
        try await patiently { try await base.get(key, range: range) }
    }

    package func list(_ prefix: String, after: String?) async throws -> Listing {
        try await patiently { try await base.list(prefix, after: after) }
    }

    package func delete(_ key: String) async throws { try await patiently { try await base.delete(key) } }

    private func patiently<T>(_ send: () async throws -> T) async throws -> T {
        let end = clock.steadyMilliseconds() + limits.storePatienceMilliseconds
        var failures = 0
        while true {
            do {
                let result = try await send()
                hasAnswered.withLock { $0 = true }
                return result
            } catch let error as SyncError where mayPass(error) {
                failures += 1
                let delay = Backoff.delay(
                    failures: failures, entropy: entropy(),
                    minimumMilliseconds: (error.retryAfterSeconds ?? 0) * 1_000, limits: limits)
                guard clock.steadyMilliseconds() + delay <= end else {
                    throw SyncError(
                        error.code, error.message,
                        hint: "It failed \(failures) times within \(limits.storePatienceMilliseconds / 1_000) seconds. "
                            + "Give the command again when the store works.", retryAfterSeconds: error.retryAfterSeconds
                    )
                }
                try await clock.sleep(milliseconds: delay)
            }
        }
    }

    private func mayPass(_ error: SyncError) -> Bool {
        switch error.code {
        case .busy, .tooManyRequests: true
        case .unreachable, .timedOut, .truncated: hasAnswered.withLock { $0 }
        default: false
        }
    }
}

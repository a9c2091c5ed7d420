import Journal

/// Waits until a file holds a change of an origin, so that a reader sees what was written elsewhere.
///
/// It looks at the file when the watch says that it may have changed. Looks at a file that changes all the
/// time keep the distance of ``Pace/reading``.
package struct VersionWait: Sendable {
    private let replica: Replica
    private let clock: any SyncClock
    private let changes: @Sendable () -> AsyncStream<Void>

    /// - Parameter changes: Returns a stream that yields when the file may have changed; see ``FileWatch``.
    package init(
        replica: Replica, clock: any SyncClock = SystemClock(), changes: @escaping @Sendable () -> AsyncStream<Void>
    ) {
        self.replica = replica
        self.clock = clock
        self.changes = changes
    }

    /// Returns when the file holds all changes of `origin` up to `version`, or when the time is over.
    ///
    /// - Parameter milliseconds: The longest wait; 0 or less for one look.
    /// - Returns: Whether the file holds them.
    /// - Throws: `CancellationError`; errors of the file.
    package func run(_ origin: OriginID, _ version: Int64, milliseconds: Int64) async throws -> Bool {
        let deadline = clock.steadyMilliseconds() + milliseconds
        // Subscribed before the first look, so that no change falls between the look and the wait.
        let news = changes()
        var pace = Pace.reading
        while true {
            let began = clock.steadyMilliseconds()
            if try await holds(origin, version) { return true }
            let end = clock.steadyMilliseconds()
            // Most looks take less than a millisecond.
            pace.took(max(end - began, 1), until: end)
            guard end < deadline else { return false }
            try await clock.wait(for: news, milliseconds: deadline - end)
            let rest = min(pace.delay(at: clock.steadyMilliseconds()), deadline - clock.steadyMilliseconds())
            if rest > 0 { try await clock.sleep(milliseconds: rest) }
        }
    }

    private func holds(_ origin: OriginID, _ version: Int64) async throws -> Bool {
        try await blocking { [replica] in
            try replica.read { try KnownVersions($0).vector[origin] >= version }
        }
    }
}

extension SyncClock {
    /// Returns when `news` yields or the time is over.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func wait(for news: AsyncStream<Void>, milliseconds: Int64) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in news { return }
                // There is no watch, or it has stopped: only the time ends the wait.
                try await sleep(milliseconds: milliseconds)
            }
            group.addTask { try await sleep(milliseconds: milliseconds) }
            defer { group.cancelAll() }
            _ = try await group.next()
        }
        try Task.checkCancellation()
    }
}

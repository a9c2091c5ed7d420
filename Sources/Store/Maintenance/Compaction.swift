import Dispatch
import Foundation
import Journal

extension Database {
    /// Removes from the journal what later changes have overwritten or deleted, except the newest history. This
    /// happens by itself (``Options/history``) in a file that replicates with nobody.
    ///
    /// The work is done in short transactions with pauses, so other writers hardly wait. Cancelling the task ends it
    /// after a transaction; the journal says the same then as before. The file keeps its size, and uses the free
    /// space again (``vacuum()``).
    ///
    /// - Parameter history: How much of it stays at least, 0 for none; nil for ``Options/history``, or all of it when
    ///   that is nil.
    /// - Returns: The number of changes that were removed; nil when the file replicates with others, so that its
    ///   daemon compacts it, and when rows break foreign keys.
    /// - Throws: ``StoreError``: `readOnly`; `closed`; `busy` when other processes kept the lock; `full`.
    ///   `CancellationError`. The journal says the same then as before.
    @discardableResult
    public func compact(keeping history: Duration? = nil) async throws -> Int? {
        guard let history = history ?? options.history else { return 0 }
        // Without a history to keep, changes of this millisecond go too, and those of clocks that are ahead.
        return try await compact(until: history > .zero ? Database.now - history : .seconds(Int64.max))
    }

    /// - Parameter until: Changes after this time since 1970 stay.
    private func compact(until: Duration) async throws -> Int? {
        let until = Stamp(milliseconds: max(0, until.milliseconds))
        guard
            let plan = try await maintain({ [replica] () throws -> CompactionPlan? in
                guard case .ready(let position) = try LocalCompaction.look(at: replica) else { return nil }
                return try LocalCompaction.plan(of: replica, through: position, until: until)
            })
        else { return nil }
        var compactor = Compactor(plan)
        while !compactor.progress.isComplete {
            try await Task.sleep(for: Database.compactionPause)
            let step = compactor
            let next = try await maintain { [replica] () throws -> Compactor? in
                var step = step
                return try replica.write { try step.step($0) } ? step : nil
            }
            // Another schema or identity: the next compaction goes on.
            guard let next else { break }
            compactor = next
        }
        return compactor.progress.removed
    }

    /// Compacts from time to time while the database is open.
    func compactRegularly() -> Task<Void, Never>? {
        guard options.history != nil, !options.isReadOnly, changes != nil else { return nil }
        // Not a child task, as that which follows the file.
        return Task { [weak self] in
            var pause = Database.pauseBeforeCompaction
            while true {
                guard (try? await Task.sleep(for: pause)) != nil, let self, !self.isClosed else { return }
                pause = Database.pauseBetweenCompactions
                // The failure handler has received the error; the next time tries again.
                _ = try? await self.compactWhenDue(now: Database.now)
            }
        }
    }

    /// Compacts when it is worth a pass over the journal.
    ///
    /// - Parameter now: The time since 1970.
    /// - Returns: As ``compact(keeping:)``; nil also when it is not due.
    func compactWhenDue(now: Duration) async throws -> Int? {
        guard let history = options.history else { return nil }
        let until = now - history
        let isDue = try await maintain { [replica] in
            try replica.read {
                try LocalCompaction.isDue(
                    $0, until: Stamp(milliseconds: max(0, until.milliseconds)),
                    margin: Database.compactionMargin.milliseconds)
            }
        }
        return isDue ? try await compact(until: until) : nil
    }

    private static let compactionPause = Duration.milliseconds(10)
    private static let pauseBeforeCompaction = Duration.seconds(10)
    private static let pauseBetweenCompactions = Duration.seconds(3_600)
    /// Between two passes over the journal there is a day of changes.
    private static let compactionMargin = Duration.seconds(86_400)

    private static var now: Duration { .milliseconds(Int64(Date().timeIntervalSince1970 * 1_000)) }

    /// Runs `body` outside of the task pool, because SQLite blocks its thread, and as Tandem's own statements.
    private func maintain<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try Task.checkCancellation()
        return try await withCheckedThrowingContinuation { continuation in
            Database.maintenanceQueue.async { [self] in
                continuation.resume(
                    with: .init {
                        try outside("compacting") {
                            try checkWritable()
                            return try StatementOwner.store.runs(body)
                        }
                    })
            }
        }
    }

    private static let maintenanceQueue = DispatchQueue(label: "tandem.store.maintain")
}

extension Duration {
    fileprivate var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        // Longer than any history, and far from what a number holds.
        let most: Int64 = 1 << 50
        return min(max(seconds, -most), most) * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}

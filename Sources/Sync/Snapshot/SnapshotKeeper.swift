import Journal
import Synchronization

/// The snapshot that an endpoint serves: one at a time, for any number of receivers who may have the same tables.
///
/// It is a copy of the replica's file beside the file. It has no name while it is served, so a crash leaves
/// nothing behind; and it is dropped when nobody has asked for it for a while.
final class SnapshotKeeper: Sendable {
    private struct Prepared {
        let copy: SnapshotCopy
        let made: Int64
        var used: Int64
    }

    private enum State {
        case none
        case preparing(completed: Int64, total: Int64)
        case failed(SyncError)
        case ready(Prepared)
    }

    private let replica: Replica
    private let limits: Limits
    private let clock: any SyncClock
    /// The tables that the receivers may have; nil for all.
    private let scope: TableScope?
    private let state = Mutex(State.none)

    init(replica: Replica, limits: Limits, clock: any SyncClock, only scope: TableScope? = nil) {
        self.scope = scope
        self.replica = replica
        self.limits = limits
        self.clock = clock
    }

    /// Returns the manifest of a recent snapshot. Begins to make one when there is none, and when the last
    /// one is old and no longer in use.
    ///
    /// - Throws: ``SyncError``: what making the last one ended with, once.
    func answer() async throws -> SnapshotAnswer {
        let now = clock.steadyMilliseconds()
        let (answer, begins) = try state.withLock { state throws(SyncError) -> (SnapshotAnswer, Bool) in
            switch state {
            case .preparing(let completed, let total): return (.preparing(completed: completed, total: total), false)
            case .failed(let error):
                state = .none
                throw error
            case .ready(var prepared):
                let isInUse = now - prepared.used < limits.snapshotUseMilliseconds
                if now - prepared.made < limits.snapshotAgeMilliseconds || isInUse {
                    prepared.used = now
                    state = .ready(prepared)
                    return (.ready(prepared.copy.manifest), false)
                }
                fallthrough
            case .none:
                state = .preparing(completed: 0, total: 0)
                return (.preparing(completed: 0, total: 0), true)
            }
        }
        guard begins else { return answer }
        Task { [self] in await prepare() }
        return answer
    }

    /// Returns the bytes of a part.
    ///
    /// - Throws: ``SyncError``: `notFound`, `storage`.
    func part(_ index: Int, of id: String) async throws -> [UInt8] {
        let now = clock.steadyMilliseconds()
        let found = state.withLock { state -> Prepared? in
            guard case .ready(var prepared) = state, prepared.copy.manifest.id == id else { return nil }
            prepared.used = now
            state = .ready(prepared)
            return prepared
        }
        guard let found else {
            throw SyncError(
                .notFound, "The snapshot is no longer here",
                hint: "Ask for a new one; equal parts need not be sent again.")
        }
        guard found.copy.manifest.parts.indices.contains(index) else {
            throw SyncError(.notFound, "The snapshot has no part \(index)")
        }
        return try await blocking { try found.copy.part(index) }
    }

    // MARK: - Making a snapshot

    /// Removes the unfinished copies of processes that died. For the one daemon of a file, before it serves.
    func removeLeftovers() { SnapshotCopy.removeLeftovers(of: replica) }

    private func prepare() async {
        do {
            let prepared = try await blocking { [self] in try make() }
            state.withLock { $0 = .ready(prepared) }
            await dropWhenIdle(prepared.copy.manifest.id)
        } catch {
            state.withLock { $0 = .failed(SyncError(wrapping: error)) }
        }
    }

    private func make() throws -> Prepared {
        let copy = try SnapshotCopy.make(of: replica, limits: limits, only: scope) { note(completed: $0, of: $1) }
        let now = clock.steadyMilliseconds()
        return Prepared(copy: copy, made: now, used: now)
    }

    private func note(completed: Int, of total: Int) {
        state.withLock { state in
            if case .preparing = state { state = .preparing(completed: Int64(completed), total: Int64(total)) }
        }
    }

    private func dropWhenIdle(_ id: String) async {
        while true {
            let left = state.withLock { state -> Int64? in
                guard case .ready(let prepared) = state, prepared.copy.manifest.id == id else { return nil }
                let left = prepared.used + limits.snapshotIdleMilliseconds - clock.steadyMilliseconds()
                if left <= 0 { state = .none }
                return left > 0 ? left : nil
            }
            guard let left, (try? await clock.sleep(milliseconds: left)) != nil else { return }
        }
    }
}

import Synchronization

/// Something that was computed from the database, and wants to know when it may have changed.
protocol Dependent: AnyObject, Sendable {
    /// Called for each commit, before its events are delivered, under the pipeline's lock: no query, no code of the caller.
    func committed(_ summary: CommitSummary)

    /// True while no commit could concern it.
    var isIdle: Bool { get }

    /// Called when the database is closed.
    func finish()
}

/// Everyone who depends on what commits change: caches and live queries. Held weakly.
final class Dependents: Sendable {
    private struct Weak {
        weak var dependent: (any Dependent)?
    }

    private struct State {
        var dependents: [Weak] = []
        var commits = 0
    }

    private let state = Mutex(State())

    /// The number of commits handled. A value computed while it grew may be older than the last of them.
    var commits: Int { state.withLock { $0.commits } }

    /// True when nobody wants to know which tables and columns commits change.
    var isIdle: Bool { state.withLock { $0.dependents.allSatisfy { $0.dependent?.isIdle ?? true } } }

    func add(_ dependent: some Dependent) {
        state.withLock { state in
            state.dependents.removeAll { $0.dependent == nil }
            state.dependents.append(Weak(dependent: dependent))
        }
    }

    func committed(_ summary: CommitSummary) {
        if summary.isEmpty { return }
        // Held until the lock is free: the last reference may go away here.
        let dependents = state.withLock { state in
            state.commits += 1
            return state.dependents.compactMap(\.dependent)
        }
        for dependent in dependents { dependent.committed(summary) }
    }

    func finish() {
        for dependent in state.withLock({ $0.dependents.compactMap(\.dependent) }) { dependent.finish() }
    }
}

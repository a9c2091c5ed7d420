import Synchronization

/// A value computed from the database that must be told when it may have changed.
protocol Dependent: AnyObject, Sendable {
    /// Called for each commit, before its events are delivered, under the pipeline's lock: it must neither
    /// query nor run code of the caller.
    func committed(_ summary: CommitSummary)

    /// True while no commit could concern it.
    var isIdle: Bool { get }

    /// Called when the database is closed.
    func finish()
}

/// The caches and live queries that depend on commits, as weak references.
final class Dependents: Sendable {
    private struct Weak {
        weak var dependent: (any Dependent)?
    }

    private struct State {
        var dependents: [Weak] = []
        var commits = 0
    }

    private let state = Mutex(State())

    /// The number of commits handled. A value whose computation overlapped an increase may be older than the
    /// last commit.
    var commits: Int { state.withLock { $0.commits } }

    /// True when no dependent needs the tables and columns that commits change.
    var isIdle: Bool { state.withLock { $0.dependents.allSatisfy { $0.dependent?.isIdle ?? true } } }

    func add(_ dependent: some Dependent) {
        state.withLock { state in
            state.dependents.removeAll { $0.dependent == nil }
            state.dependents.append(Weak(dependent: dependent))
        }
    }

    func committed(_ summary: CommitSummary) {
        if summary.isEmpty { return }
        // Kept until the lock is released, because the last reference may go away here.
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

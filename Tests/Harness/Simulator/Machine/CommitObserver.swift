import GRDB

/// Reports each commit of one connection: the moments at which a process may die.
///
/// Unchecked: see ``Scheduler``.
final class CommitObserver: TransactionObserver, @unchecked Sendable {
    private let willCommit: () throws -> Void
    private let didCommit: () -> Void
    private var isCommitting = false

    /// - Parameter willCommit: An error that it throws refuses the commit.
    init(willCommit: @escaping () throws -> Void, didCommit: @escaping () -> Void) {
        self.willCommit = willCommit
        self.didCommit = didCommit
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}

    func databaseWillCommit() throws {
        try willCommit()
        isCommitting = true
    }

    func databaseDidCommit(_ db: Database) {
        // GRDB calls this also for transactions that wrote nothing.
        guard isCommitting else { return }
        isCommitting = false
        didCommit()
    }

    func databaseDidRollback(_ db: Database) { isCommitting = false }
}

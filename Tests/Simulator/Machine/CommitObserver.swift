import GRDB

/// Tells of each commit of one connection: the moments at which a process may die.
///
/// Unchecked: see ``Scheduler``.
final class CommitObserver: TransactionObserver, @unchecked Sendable {
    private let willCommit: () -> Void
    private let didCommit: () -> Void
    private var isCommitting = false

    init(willCommit: @escaping () -> Void, didCommit: @escaping () -> Void) {
        self.willCommit = willCommit
        self.didCommit = didCommit
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}

    func databaseWillCommit() throws {
        isCommitting = true
        willCommit()
    }

    func databaseDidCommit(_ db: Database) {
        // Also called for transactions that wrote nothing.
        guard isCommitting else { return }
        isCommitting = false
        didCommit()
    }

    func databaseDidRollback(_ db: Database) { isCommitting = false }
}

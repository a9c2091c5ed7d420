/// The changes of live objects by a commit, or by a read of the journal. Observers are notified when no lock
/// is held.
final class Publication {
    private let database: Database
    /// True when there is a listener, which needs the values before the change.
    private let keepsImages: Bool
    private var announcements: [() -> Void] = []

    init(_ database: Database) {
        self.database = database
        keepsImages = database.allInstances().contains { $0.hasListeners }
    }

    /// True when the changes of `object` may be needed: only then the values are copied.
    func wants(_ object: some Model) -> Bool { keepsImages || object._isObserved }

    /// Records the values of a row before and after its change.
    ///
    /// - Parameter transients: True when properties without a column may have changed too.
    func note<M: Model>(
        _ object: M, before: (fields: M.Fields, status: RowStatus), after: (fields: M.Fields, status: RowStatus),
        transients: Bool = false
    ) {
        if keepsImages, before.status == .present { database.instances(of: M.self).keepImage(before.fields) }
        guard object._isObserved else { return }
        let changes = after.fields._changes(from: before.fields)
        let isStatusNew = before.status != after.status
        guard !changes.isEmpty || transients || isStatusNew else { return }
        announcements.append { object._announce(changes, transients: transients, status: isStatusNew) }
    }

    /// Drops the values before the changes, because the events that need them are sent.
    func eventsAreSent() {
        guard keepsImages else { return }
        for registry in database.allInstances() { registry.dropImages() }
    }

    /// Notifies the observers. They run code of the caller, so no lock may be held.
    func announce() {
        let due = announcements
        announcements = []
        for announcement in due { announcement() }
    }
}

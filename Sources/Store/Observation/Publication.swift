/// What a commit, or a look at the journal, has changed in live objects: told to observers when no lock is held any more.
final class Publication {
    private let database: Database
    /// True when someone listens to changes, who wants to know the values before.
    private let keepsImages: Bool
    private var announcements: [() -> Void] = []

    init(_ database: Database) {
        self.database = database
        keepsImages = database.allInstances().contains { $0.hasListeners }
    }

    /// True when someone may want to know what changes in `object`: only then the values are worth a copy.
    func wants(_ object: some Model) -> Bool { keepsImages || object._isObserved }

    /// Notes what a row was and is.
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

    /// Drops the values before: the events that wanted them are sent.
    func eventsAreSent() {
        guard keepsImages else { return }
        for registry in database.allInstances() { registry.dropImages() }
    }

    /// Tells the observers. They run code of the caller: no lock may be held.
    func announce() {
        let due = announcements
        announcements = []
        for announcement in due { announcement() }
    }
}

import Journal

extension Model {
    /// Returns the changes of this object's row after this call: `bob.changes()`.
    public func changes() -> ModelChanges<Self> { Self.changes(in: database, id: id) }

    /// Returns the object's values: the current ones, then the new ones after every commit that changes one
    /// of them. The element is nil when the row is deleted, and has values again when the row is inserted
    /// again.
    ///
    /// ```swift
    /// for try await values in bob.live() { print(values?.name ?? "deleted") }
    /// ```
    public func live() -> LiveSequence<Fields?> {
        let (database, object) = (database, self)
        return LiveSequence(
            database: database, ignored: [],
            compute: {
                try database.tracked {
                    // Marks the table as read, and reads the row when the object does not know it.
                    _ = try Self.find(object.id, in: database)
                    return object._withState { $0.status == .present ? $0.fields : nil }
                }
            },
            makeFilter: {
                var isFirst = true
                var last: Fields?
                return { fields in
                    defer {
                        isFirst = false
                        last = fields
                    }
                    if isFirst { return true }
                    guard let last, let fields else { return (last == nil) != (fields == nil) }
                    return !fields._changes(from: last).isEmpty
                }
            })
    }
}

extension Database {
    /// Applies changes of the file that the journal does not show: changes by another process in tables
    /// without capture, or changes made while capture was switched off. Reads every object in memory again,
    /// drops cached results, runs live queries again, and notifies observers of objects whose values differ.
    /// All other changes are applied without a call.
    ///
    /// - Throws: What ``refresh()`` throws.
    public func notifyExternalChange() throws {
        try refresh()
        recheck(allInstances().flatMap { $0.all() })
        var summary = CommitSummary()
        summary.isUnknown = true
        dependents.committed(summary)
    }
}

import Journal

extension Model {
    /// The changes of this object's row from now on: `bob.changes()`.
    public func changes() -> ModelChanges<Self> { Self.changes(in: database, id: id) }

    /// The object's values, now and after every commit that changes one of them; nil when the row is deleted, and again values
    /// when it comes back.
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
                    // Notes the table as read, and asks for the row when the object does not know it.
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
    /// Takes up changes of the file that no journal tells: in tables without capture, by another process; or after the file was
    /// worked on with capture switched off. Every object that is held is read again, cached results are dropped, live queries
    /// look again, and observers of objects whose values differ are told. Everything else is taken up without a call.
    ///
    /// - Throws: As ``refresh()``.
    public func notifyExternalChange() throws {
        try refresh()
        recheck(allInstances().flatMap { $0.all() })
        var summary = CommitSummary()
        summary.isUnknown = true
        dependents.committed(summary)
    }
}

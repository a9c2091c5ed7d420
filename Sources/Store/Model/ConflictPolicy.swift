/// How a save treats an unsaved value whose column has changed in the database since the edit began: by
/// another save, a bulk update, another process or another machine.
///
/// A column that only one side has changed is no conflict: it keeps that change.
public struct ConflictPolicy<M: Model>: Sendable {
    enum Rule: Sendable {
        case keepLocal
        case takeDatabase
        case merge(@Sendable (inout M.Fields, Conflict<M>) throws -> Void)
    }

    let rule: Rule

    /// The edit's value wins, because it is the later write. The default; replication resolves two writes of
    /// one column in the same way.
    public static var keepLocal: ConflictPolicy { ConflictPolicy(rule: .keepLocal) }

    /// The database's value wins, and the edit of that column is dropped.
    public static var takeDatabase: ConflictPolicy { ConflictPolicy(rule: .takeDatabase) }

    /// `resolve` decides. It receives the merged row, in which the conflicting columns hold the database's
    /// values, and the three versions of the row. It runs inside the save; an error that it throws fails the
    /// save.
    ///
    /// ```swift
    /// let edit = bob.edit(onConflict: .merge { merged, conflict in
    ///     merged.count = conflict.database.count + conflict.local.count - conflict.base.count
    /// })
    /// ```
    public static func merge(
        _ resolve: @escaping @Sendable (_ merged: inout M.Fields, _ conflict: Conflict<M>) throws -> Void
    ) -> ConflictPolicy { ConflictPolicy(rule: .merge(resolve)) }
}

/// A row of which an unsaved edit and the database have changed the same columns.
public struct Conflict<M: Model>: Sendable {
    /// The values from which the edit began.
    public let base: M.Fields
    /// The values of the edit.
    public let local: M.Fields
    /// The values in the database.
    public let database: M.Fields
    /// The names of the columns that both have changed, to different values.
    public let columns: Set<String>
}

/// The three-way merge of an edit with a row that has changed since the edit began: a pure function.
struct ThreeWay<M: Model> {
    let base: M.Fields
    let local: M.Fields
    let database: M.Fields

    /// The columns that the edit has changed.
    var mine: ColumnSet { local._changes(from: base) }

    /// The columns that both have changed, to different values.
    var contested: ColumnSet {
        mine.intersection(database._changes(from: base)).intersection(local._changes(from: database))
    }

    /// The row to write.
    func merged(_ policy: ConflictPolicy<M>) throws -> M.Fields {
        let contested = contested
        var merged = database
        merged._take(mine.subtracting(contested), from: local)
        merged._takeTransient(from: local)
        if contested.isEmpty { return merged }
        switch policy.rule {
        case .keepLocal: merged._take(contested, from: local)
        case .takeDatabase: break
        case .merge(let resolve):
            try resolve(
                &merged,
                Conflict(base: base, local: local, database: database, columns: Set(M.schema.names(contested))))
        }
        return merged
    }
}

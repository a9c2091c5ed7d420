import Synchronization

/// Changes to one row that are not saved yet, for a form or another task that takes longer than a transaction
/// may.
///
/// An edit reads like the object, with the edit's changes on top: a property that was not edited follows the
/// row. The object and all other code see nothing of the edit before ``save()``.
///
/// ```swift
/// let edit = bob.edit()
/// edit.name = "Robert"
/// edit.changedColumns         // ["name"]
/// try edit.save()
/// ```
///
/// When another writer changes the row in the meantime, each column keeps the change of the side that changed
/// it. Where both sides changed a column, the ``ConflictPolicy`` decides. Any thread may use an edit.
@dynamicMemberLookup
public final class Edit<M: Model>: PendingChange {
    private struct State {
        /// For edited columns, the row's values when the edit began. For all others, the row's current
        /// values.
        var base: M.Fields
        var draft: M.Fields
        /// True while the object has never been saved.
        var isNew: Bool
        /// Columns whose edits were dropped by the policy ``ConflictPolicy/takeDatabase``.
        var overruled = ColumnSet()
    }

    /// The object whose row is edited.
    public let object: M
    private let policy: ConflictPolicy<M>
    private let state: Mutex<State>

    init(_ object: M, _ policy: ConflictPolicy<M>) {
        self.object = object
        self.policy = policy
        let (fields, isNew, made) = object._withState { state in
            let visible = state.visible
            return (visible.fields, visible.status == .new, state.filledIn)
        }
        var initial = State(base: fields, draft: fields, isNew: isNew)
        if let made {
            initial.base = M.Fields()
            initial.base._key = fields._key
            initial.draft = made
        }
        state = Mutex(initial)
    }

    /// The database of the object.
    public var database: Database { object.database }

    /// A value of the row, edited or not.
    public subscript<Value: Sendable>(dynamicMember path: WritableKeyPath<M.Fields, Value>) -> Value {
        get { current { $0.draft[keyPath: path] } }
        set { current { $0.draft[keyPath: path] = newValue } }
    }

    // MARK: - What has changed

    /// True when saving would write something.
    public var hasChanges: Bool { current { $0.isNew || !$0.draft._changes(from: $0.base).isEmpty } }

    /// The names of the columns that differ from the row.
    public var changedColumns: Set<String> { current { Set(M.schema.names($0.draft._changes(from: $0.base))) } }

    /// The names of the edited columns that the database has changed too since the edit began.
    public var conflicts: Set<String> {
        let row = row
        return state.withLock { state in
            Edit.follow(&state, row, policy)
            var columns = state.overruled
            if let row { columns.formUnion(ThreeWay<M>(base: state.base, local: state.draft, database: row).contested) }
            return Set(M.schema.names(columns))
        }
    }

    /// Drops all changes.
    public func discardChanges() {
        current { state in
            state.draft = state.base
            state.overruled = ColumnSet()
        }
        // The base of a conflicting column is the old value, so take the row's.
        let row = row
        state.withLock { state in
            guard let row else { return }
            state.base = row
            state.draft = row
        }
    }

    /// Drops the change of one column: `edit.discardChange(\.name)`.
    public func discardChange(_ path: PartialKeyPath<M.Columns>) {
        let column = M.positions(of: [path])
        let row = row
        state.withLock { state in
            Edit.follow(&state, row, policy)
            if let row { state.base._take(column, from: row) }
            state.draft._take(column, from: state.base)
            state.overruled = state.overruled.subtracting(column)
        }
    }

    // MARK: - Saving

    /// Writes the changed columns; inserts the row of an object that was made in memory.
    ///
    /// Afterwards the edit has no changes and can be used further. When the transaction is rolled back, the
    /// edit has its changes again.
    ///
    /// - Returns: True when something was written.
    /// - Throws: ``StoreError/Code/deleted`` when the row is deleted; what a save and the policy throw. The
    ///   row and the edit are unchanged then.
    @discardableResult
    public func save() throws -> Bool {
        try database.write(M.self, "saving") { context in
            let before = state.withLock { $0 }
            var after = before
            let written = try context.save(object) { fields in
                Edit.follow(&after, context.isPresent(object) ? fields : nil, policy)
                if !after.isNew {
                    fields = try ThreeWay<M>(base: after.base, local: after.draft, database: fields).merged(policy)
                } else {
                    fields = after.draft
                }
                after.base = fields
                after.draft = fields
            }
            after.isNew = false
            after.overruled = ColumnSet()
            state.withLock { $0 = after }
            context.undo.append(EditUndo { [self] in state.withLock { $0 = before } })
            return written
        }
    }

    /// Saves like ``save()``, for ``Database/save(_:)``.
    ///
    /// - Throws: What ``save()`` throws.
    @discardableResult
    public func saveChanges() throws -> Bool { try save() }

    // MARK: - Following the row

    /// The row as seen by the calling thread; nil when there is none.
    private var row: M.Fields? {
        object._withState { state in
            let visible = state.visible
            return visible.status == .present ? visible.fields : nil
        }
    }

    private func current<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let row = row
        return state.withLock { state in
            Edit.follow(&state, row, policy)
            return body(&state)
        }
    }

    /// Takes over the changes of the row, except in conflicting columns, which are resolved by the save.
    private static func follow(_ state: inout State, _ row: M.Fields?, _ policy: ConflictPolicy<M>) {
        guard let row else { return }
        if state.isNew {
            // Another writer inserted the row. The values that were filled in count as edits.
            let key = state.base._key
            state.base = M.Fields()
            state.base._key = key
            state.isNew = false
        }
        let meeting = ThreeWay<M>(base: state.base, local: state.draft, database: row)
        let (mine, contested) = (meeting.mine, meeting.contested)
        var base = row
        var draft = row
        if case .takeDatabase = policy.rule {
            state.overruled.formUnion(contested)
            draft._take(mine.subtracting(contested), from: state.draft)
        } else {
            base._take(contested, from: state.base)
            draft._take(mine, from: state.draft)
        }
        draft._takeTransient(from: state.draft)
        (state.base, state.draft) = (base, draft)
    }
}

/// Restores the changes of an edit when the transaction that saved them is rolled back.
private struct EditUndo: UndoStep {
    let restore: () -> Void
    let target: ObjectIdentifier? = nil
    let restoresOverlay = false

    init(_ restore: @escaping () -> Void) { self.restore = restore }

    func undo(_ epoch: Int) -> (any Refreshable)? {
        restore()
        return nil
    }

    func publish(_ epoch: Int, asOf position: Int64, _ publication: Publication) {}
}

extension WriteContext {
    /// True when this transaction sees the object's row.
    func isPresent<M: Model>(_ object: M) -> Bool { object._withState { $0.visible.status == .present } }
}

extension Model {
    /// Begins an ``Edit``: changes that are saved later.
    public func edit(onConflict policy: ConflictPolicy<Self> = .keepLocal) -> Edit<Self> { Edit(self, policy) }
}

import GRDB

extension WriteContext {
    /// The state of the transaction at the beginning of a savepoint.
    struct Savepoint {
        let follower: Follower.Mark
        let position: Int64
        /// The number of elements in ``undo`` and in ``afterCommit``.
        let undo: Int
        let hooks: Int
    }

    /// Runs `body`, code of the caller, as a transaction inside this one. When it throws, undoes everything
    /// that was written in it.
    func inSavepoint<Result>(_ body: () throws -> Result) throws -> Result {
        try beginLazySavepoints()
        let start = try begin()
        do {
            let result = try body()
            try release()
            return result
        } catch {
            try rollBack(to: start)
            throw error
        }
    }

    /// Runs `body`, which writes one row. When it throws, undoes everything that was written in it.
    ///
    /// A failed statement undoes itself (ABORT, https://sqlite.org/lang_conflict.html). Only writes by the
    /// caller's code, in a block or in a hook, must be undone as well. They are rare, so the savepoint begins
    /// right before the first of them (``beginLazySavepoints()``), and a plain save has none.
    func inLazySavepoint<Result>(_ body: () throws -> Result) throws -> Result {
        lazySavepoints.append(nil)
        do {
            let result = try body()
            if let start = lazySavepoints.last, start != nil { try release() }
            lazySavepoints.removeLast()
            return result
        } catch {
            if let start = lazySavepoints.removeLast() {
                try rollBack(to: start)
            } else {
                // The failed statement undid itself, except for a trigger's RAISE(FAIL), which keeps earlier
                // changes. So the journal must be read.
                mustFollow = true
            }
            throw error
        }
    }

    /// Begins the savepoints of all enclosing steps, because a write inside them follows.
    func beginLazySavepoints() throws {
        // Savepoints begin from the outermost step on, so the last element shows whether all have begun.
        guard let innermost = lazySavepoints.last, innermost == nil else { return }
        for index in lazySavepoints.indices where lazySavepoints[index] == nil { lazySavepoints[index] = try begin() }
    }

    private func begin() throws -> Savepoint {
        // After SQLite has ended the transaction, SAVEPOINT would begin a new one.
        try checkOpen()
        try confirm()
        let start = Savepoint(
            follower: follower.mark, position: position, undo: undo.count, hooks: afterCommit.count)
        try run("SAVEPOINT store")
        savepointDepth += 1
        checkInvariants()
        return start
    }

    private func release() throws {
        try confirm()
        try checkOpen()
        try run("RELEASE store")
        savepointDepth -= 1
    }

    private func rollBack(to start: Savepoint) throws {
        defer { savepointDepth -= 1 }
        if db.isInsideTransaction {
            // ROLLBACK TO leaves the savepoint on the stack (https://sqlite.org/lang_savepoint.html).
            try run("ROLLBACK TO store")
            try run("RELEASE store")
        }
        afterCommit.removeLast(afterCommit.count - start.hooks)
        while undo.count > start.undo { drop(undo.removeLast()) }
        follower.restore(start.follower)
        rewind(to: start.position)
    }

    private func run(_ sql: String) throws {
        do { try db.execute(sql: sql) } catch { throw StoreError.wrapping(error) }
    }

    /// Runs `body` without recording events for listeners.
    func silently<Result>(_ body: () throws -> Result) throws -> Result {
        if follower.isSilent { return try body() }
        // Changes before `body` send events. The changes of `body` are read from the journal, or counted,
        // before events are recorded again.
        try confirm()
        follower.isSilent = true
        defer { follower.isSilent = false }
        let result = try body()
        try confirm()
        return result
    }
}

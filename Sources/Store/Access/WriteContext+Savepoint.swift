import GRDB

extension WriteContext {
    /// Where the transaction stood when a savepoint began.
    struct Savepoint {
        let follower: Follower.Mark
        let position: Int64
        /// The counts of ``undo`` and ``afterCommit``.
        let undo: Int
        let hooks: Int
    }

    /// Runs `body` as a transaction inside of this one.
    func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
        try beginSteps()
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

    /// Runs `body`, which writes one row, and undoes all that was written in it when it throws.
    ///
    /// A statement that fails undoes itself (ABORT, https://sqlite.org/lang_conflict.html). What has to be undone beside it is what
    /// the caller's code has written, in a block or in a hook. Few do, so the savepoint begins right before the first of these
    /// writes (``beginSteps()``), and a plain save has none.
    func step<Result>(_ body: () throws -> Result) throws -> Result {
        steps.append(nil)
        do {
            let result = try body()
            if let start = steps.last, start != nil { try release() }
            steps.removeLast()
            return result
        } catch {
            if let start = steps.removeLast() {
                try rollBack(to: start)
            } else {
                // But for a trigger's RAISE(FAIL), which keeps what came before it.
                mustFollow = true
            }
            throw error
        }
    }

    /// Begins the savepoints of the steps that the thread is inside of: something is about to be written in them.
    func beginSteps() throws {
        // They begin from the outermost on, so the last one tells of all.
        guard let innermost = steps.last, innermost == nil else { return }
        for index in steps.indices where steps[index] == nil { steps[index] = try begin() }
    }

    private func begin() throws -> Savepoint {
        // After SQLite has ended the transaction, SAVEPOINT would begin another one.
        try checkOpen()
        try confirm()
        let start = Savepoint(
            follower: follower.mark, position: position, undo: undo.count, hooks: afterCommit.count)
        try run("SAVEPOINT store")
        savepointDepth += 1
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
        // What was written before is told; what `body` writes is read from the journal, or counted, before events start again.
        try confirm()
        follower.isSilent = true
        defer { follower.isSilent = false }
        let result = try body()
        try confirm()
        return result
    }
}

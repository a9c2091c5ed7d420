import GRDB

extension WriteContext {
    /// Runs `body` as a transaction inside of this one.
    func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
        try confirm()
        let mark = (follower: follower.mark, position: position, undo: undo.count, hooks: afterCommit.count)
        savepointDepth += 1
        defer { savepointDepth -= 1 }
        try run("SAVEPOINT store")
        do {
            let result = try body()
            try confirm()
            try checkOpen()
            try run("RELEASE store")
            return result
        } catch {
            if db.isInsideTransaction {
                // ROLLBACK TO leaves the savepoint on the stack (https://sqlite.org/lang_savepoint.html).
                try run("ROLLBACK TO store")
                try run("RELEASE store")
            }
            afterCommit.removeLast(afterCommit.count - mark.hooks)
            while undo.count > mark.undo { drop(undo.removeLast()) }
            follower.restore(mark.follower)
            rewind(to: mark.position)
            throw error
        }
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

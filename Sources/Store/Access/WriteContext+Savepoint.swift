import GRDB

extension WriteContext {
    /// Runs `body` as a transaction inside of this one.
    func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
        try confirm()
        let mark = (follower: follower.mark, position: position, undo: undo.count, actions: afterCommit.count)
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
            while undo.count > mark.undo { drop(undo.removeLast()) }
            afterCommit.removeLast(afterCommit.count - mark.actions)
            follower.restore(mark.follower)
            rewind(to: mark.position)
            throw error
        }
    }

    private func run(_ sql: String) throws {
        do { try db.execute(sql: sql) } catch { throw StoreError.wrapping(error) }
    }
}

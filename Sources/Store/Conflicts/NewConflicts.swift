import Dispatch
import Journal

extension Database {
    /// The conflicts that are noticed from now on, one after the other, whichever process applies the changes.
    ///
    /// ```swift
    /// for try await conflict in db.newConflicts() { notify(conflict) }
    /// ```
    ///
    /// - Throws: ``StoreError`` when the file cannot be read or watched.
    public func newConflicts() throws -> NewConflicts {
        do {
            let last = try access { context in try ConflictLedger.lastID(context.db) }
            return NewConflicts(database: self, last: last, watch: try FileWatch(path: path))
        } catch {
            throw StoreError.wrapping(error, operation: "watching for conflicts")
        }
    }
}

/// Conflicts as they are noticed. Ends when its task is cancelled; after ``Database/close()`` with the next signal.
///
/// For one consumer. What was dropped by the ledger's bounds before it was read is left out.
public struct NewConflicts: AsyncSequence, Sendable {
    public typealias Element = ConflictEntry

    let database: Database
    let last: Int64
    let watch: FileWatch

    public func makeAsyncIterator() -> Iterator {
        // Before the first look, so that no commit falls between the two.
        Iterator(database: database, watch: watch, signals: watch.changes.makeAsyncIterator(), last: last)
    }

    public struct Iterator: AsyncIteratorProtocol {
        let database: Database
        /// Watches for as long as it is held.
        let watch: FileWatch
        var signals: AsyncStream<Void>.Iterator
        var last: Int64
        private var waiting: ArraySlice<ConflictEntry> = []

        init(database: Database, watch: FileWatch, signals: AsyncStream<Void>.Iterator, last: Int64) {
            self.database = database
            self.watch = watch
            self.signals = signals
            self.last = last
        }

        /// - Throws: ``StoreError`` when the file cannot be read; the next call tries again.
        public mutating func next() async throws -> ConflictEntry? {
            while true {
                if let next = waiting.popFirst() {
                    last = next.id
                    return next
                }
                if Task.isCancelled || database.isClosed { return nil }
                waiting = try await read()[...]
                if waiting.isEmpty, await signals.next() == nil { return nil }
            }
        }

        /// Reads on a thread of its own: SQLite blocks.
        private func read() async throws -> [ConflictEntry] {
            let (database, last) = (database, last)
            return try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(
                        with: Result {
                            var filter = ConflictFilter(states: Set(ConflictEntry.State.allCases))
                            filter.after = last
                            return try database.conflicts(filter)
                        })
                }
            }
        }
    }
}

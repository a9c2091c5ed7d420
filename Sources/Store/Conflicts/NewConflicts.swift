import Journal

extension Database {
    /// A sequence of the conflicts that are recorded after this call, in the order of the ledger. It includes
    /// those that another process records.
    ///
    /// ```swift
    /// for try await conflict in try db.newConflicts() { notify(conflict) }
    /// ```
    ///
    /// - Throws: ``StoreError`` when the database is closed, or the file cannot be read or watched.
    public func newConflicts() throws -> NewConflicts {
        let operation = "watching for conflicts"
        let last = try access(operation: operation) { context in try ConflictLedger.lastID(context.db) }
        do {
            let watch = ConflictWatch(try FileWatch(path: path))
            dependents.add(watch)
            // A `close()` before the registration did not reach this watch, so check after it.
            if isClosed { watch.finish() }
            return NewConflicts(database: self, last: last, watch: watch)
        } catch {
            throw failed(error, operation: operation)
        }
    }
}

/// Conflicts as they are recorded. Ends when its task is cancelled or the database is closed.
///
/// For one consumer. Conflicts that the ledger's limits removed before they were read are left out.
public struct NewConflicts: AsyncSequence, Sendable {
    public typealias Element = ConflictEntry

    let database: Database
    let last: Int64
    let watch: ConflictWatch

    /// Starts after the conflict that was the newest when ``Database/newConflicts()`` was called.
    public func makeAsyncIterator() -> Iterator {
        // Subscribes before the first read, so that no commit falls between the two.
        Iterator(database: database, watch: watch, signals: watch.file.changes.makeAsyncIterator(), last: last)
    }

    /// Delivers each conflict once, oldest first, and waits for the file to change in between.
    public struct Iterator: AsyncIteratorProtocol {
        let database: Database
        /// Keeps the watch alive.
        let watch: ConflictWatch
        var signals: AsyncStream<Void>.Iterator
        var last: Int64
        private var waiting: ArraySlice<ConflictEntry> = []

        init(database: Database, watch: ConflictWatch, signals: AsyncStream<Void>.Iterator, last: Int64) {
            self.database = database
            self.watch = watch
            self.signals = signals
            self.last = last
        }

        /// The next conflict; nil when the task is cancelled or the database closed.
        ///
        /// - Throws: ``StoreError`` when the file cannot be read. Nothing is skipped: the next call tries
        ///   again.
        public mutating func next() async throws -> ConflictEntry? {
            while true {
                if let next = waiting.popFirst() {
                    last = next.id
                    return next
                }
                if Task.isCancelled || database.isClosed { return nil }
                do {
                    waiting = try await read()[...]
                } catch {
                    // The database was closed during the read, or the task was cancelled before it.
                    if database.isClosed || (Task.isCancelled && error is CancellationError) { return nil }
                    throw error
                }
                if waiting.isEmpty, await signals.next() == nil { return nil }
            }
        }

        private func read() async throws -> [ConflictEntry] {
            let (database, last) = (database, last)
            return try await database.workers.run(on: database.workers.readers) { call in
                try call.begin()
                var filter = ConflictFilter(states: Set(ConflictEntry.State.allCases))
                filter.after = last
                return try database.conflicts(filter)
            }
        }
    }
}

/// Watches the file for a sequence of conflicts, until the database is closed.
final class ConflictWatch: Dependent {
    let file: FileWatch

    init(_ file: FileWatch) { self.file = file }

    // This sequence reads the ledger, not the changes of commits.
    func committed(_ summary: CommitSummary) {}
    var isIdle: Bool { true }

    func finish() { file.stop() }
}

import Journal
import Synchronization

/// The value of a computation over a database: the current value, then a new one after every commit that
/// changes it.
///
/// The first element is available immediately. A value is computed when the reader asks for the next element,
/// so a slow reader skips intermediate values, and an abandoned sequence costs nothing. The sequence ends
/// when the database is closed.
///
/// For one consumer; make a sequence for each.
public struct LiveSequence<Element: Sendable>: AsyncSequence, Sendable {
    public typealias Failure = any Error

    let database: Database
    let ignored: Set<String>
    let compute: @Sendable () throws -> (value: Element, region: ReadRegion)
    /// Makes a filter that returns true for each element that differs from the one before it.
    let makeFilter: @Sendable () -> (Element) -> Bool

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(database: database, watcher: Watcher(database, ignored), compute: compute, isNew: makeFilter())
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let database: Database
        let watcher: Watcher
        let compute: @Sendable () throws -> (value: Element, region: ReadRegion)
        let isNew: (Element) -> Bool

        /// The next value; nil when the database is closed or the task cancelled.
        ///
        /// - Throws: What the computation throws. The next call waits for the next commit of any table, and
        ///   computes again.
        public func next() async throws -> Element? { try await next(isolation: nil) }

        /// Like ``next()``, for a loop on an actor.
        ///
        /// - Throws: What ``next()`` throws.
        public func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            while await watcher.wait() {
                if database.isClosed { return nil }
                let (compute, watcher, workers) = (compute, watcher, database.workers)
                let value: Element
                do {
                    value = try await workers.run(on: workers.readers) { call in
                        try call.begin()
                        watcher.begin()
                        let (value, region) = try compute()
                        watcher.watch(region)
                        return value
                    }
                } catch {
                    // The database was closed during the computation, or the task was cancelled before it.
                    if database.isClosed || (Task.isCancelled && error is CancellationError) { return nil }
                    throw error
                }
                if isNew(value) { return value }
            }
            return nil
        }
    }
}

/// Wakes one reader when a commit touches what the last computation read.
final class Watcher: Dependent {
    private struct State {
        /// nil while a computation runs, because what it will read is not known yet.
        var region: ReadRegion?
        var isTouched = true
    }

    private let state = Mutex(State())
    private let signal = Mailbox<Void>(limit: 1) { _ in }
    private let ignored: Set<String>

    init(_ database: Database, _ ignored: Set<String>) {
        self.ignored = Set(ignored.map { SQLText.foldedName($0) })
        database.dependents.add(self)
        signal.send(())
        if database.isClosed { signal.finish() }
    }

    /// Waits until a computation is due; returns false when the database is closed or the task is cancelled.
    func wait() async -> Bool { await signal.next() != nil }

    /// Marks the beginning of a computation: every commit counts until its region is known.
    func begin() {
        state.withLock {
            $0.region = nil
            $0.isTouched = false
        }
    }

    /// Sets what the computation has read.
    func watch(_ region: ReadRegion) { state.withLock { $0.region = region } }

    func committed(_ summary: CommitSummary) {
        let wakes = state.withLock { state in
            if let region = state.region, !region.isTouched(by: summary, ignoring: ignored) { return false }
            defer { state.isTouched = true }
            return !state.isTouched
        }
        if wakes { signal.send(()) }
    }

    var isIdle: Bool { false }

    func finish() { signal.finish() }
}

extension Database {
    /// Returns the value of `compute`: the current one, then a new one after every commit that changes what
    /// it reads. Properties of objects that it reads count too. Objects, and arrays, sets and dictionaries of
    /// them, give an element for each such commit, because an object is equal to itself whatever its values.
    ///
    /// ```swift
    /// for try await total in db.live({ try db.value(Int.self, "SELECT sum(age) FROM Person") }) {
    ///     print(total ?? 0)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - ignored: Columns, of any table, whose updates do not count.
    ///   - compute: Runs on one snapshot, on any thread.
    public func live<T: Sendable & Equatable>(
        ignoringColumns ignored: Set<String> = [], _ compute: @escaping @Sendable () throws -> T
    ) -> LiveSequence<T> {
        LiveSequence(
            database: self, ignored: ignored, compute: { try self.tracked(compute) },
            makeFilter: {
                // Objects are equal to themselves whatever their values.
                if holdsObjects(T.self) { return { _ in true } }
                var last: T?
                return { value in
                    defer { last = value }
                    return last != value
                }
            })
    }
}

extension Database {
    /// Returns the value of `compute` like the overload for Equatable values. Values that cannot be compared,
    /// such as pairs of a join, or objects with those that they refer to, give an element for each commit
    /// that touches what `compute` reads, even when the result is the same.
    @_disfavoredOverload
    public func live<T: Sendable>(
        ignoringColumns ignored: Set<String> = [], _ compute: @escaping @Sendable () throws -> T
    ) -> LiveSequence<T> {
        LiveSequence(
            database: self, ignored: ignored, compute: { try self.tracked(compute) }, makeFilter: { { _ in true } })
    }
}

extension Query where M: Model {
    /// Returns the live objects of the rows: the current ones, then the new ones after every commit that
    /// changes the set of rows, their order, or a value of one of them.
    ///
    /// ```swift
    /// for try await people in Person.where(\.age > 60).order(by: \.name).live(in: db) { show(people) }
    /// ```
    ///
    /// - Parameters:
    ///   - ignored: Columns whose updates do not count.
    ///   - database: The database of the rows.
    public func live(ignoring ignored: [PartialKeyPath<M.Columns>] = [], in database: Database) -> LiveSequence<[M]> {
        let shown = M.schema.columns.indices.filter { !M.positions(of: ignored).contains($0) }
        return LiveSequence(
            database: database, ignored: M.names(of: ignored),
            compute: { try database.tracked { try self.all(in: database) } },
            makeFilter: {
                var last: [M.Fields]?
                return { objects in
                    let fields = objects.map { $0._withState { $0.fields } }
                    defer { last = fields }
                    guard let last, last.count == fields.count else { return true }
                    return zip(last, fields).contains { before, now in
                        let changes = now._changes(from: before)
                        return shown.contains { changes.contains($0) }
                    }
                }
            })
    }
}

extension Query where M: ValueModel & Equatable {
    /// Returns the rows as values: the current ones, then the new ones after every commit that changes them.
    public func live(in database: Database) -> LiveSequence<[M]> { database.live { try self.all(in: database) } }
}

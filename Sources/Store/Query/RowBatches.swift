import GRDB
import Journal
import Synchronization

/// The rows of a SELECT in batches: ``Database/rowBatches(of:_:_:)``.
public struct RowBatches<Row: Sendable>: AsyncSequence, Sendable {
    public typealias Element = [Row]
    public typealias Failure = any Error

    let database: Database
    let size: Int
    let operation: String
    let table: String?
    let reading: @Sendable () throws -> RowReading<Row>

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(batches: self) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        private let cursor: SnapshotCursor<Row>

        fileprivate init(batches: RowBatches) { cursor = SnapshotCursor(batches) }

        /// The next rows; nil after the last one, and after an error.
        ///
        /// - Throws: What ``Database/rows(_:_:)`` throws; ``StoreError/Code/readOnly`` for a statement that writes;
        ///   `CancellationError`, after which the next call reads on.
        public mutating func next() async throws -> [Row]? { try await next(isolation: nil) }

        /// Like ``next()``, for a loop on an actor.
        ///
        /// - Throws: What ``next()`` throws.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> [Row]? {
            let cursor = cursor
            return try await cursor.batches.database.workers.run(on: cursor.batches.database.workers.readers) { call in
                try call.begin()
                return try cursor.next()
            }
        }
    }
}

/// A SELECT on a snapshot that no access holds.
///
/// Sendable, because a lock guards the place, and a statement is used inside `DatabaseSnapshot.read` only, which runs
/// one body at a time.
private final class SnapshotCursor<Row: Sendable>: @unchecked Sendable {
    private enum Place {
        case start
        case open(DatabaseSnapshot, OpenSelect<Row>)
        /// All rows of a database in memory that have not been returned.
        case rest(ArraySlice<Row>)
        case end
    }

    let batches: RowBatches<Row>
    private let lock = Mutex(())
    private var place = Place.start

    init(_ batches: RowBatches<Row>) { self.batches = batches }

    /// - Throws: As the iterator; there are no more rows then.
    func next() throws -> [Row]? {
        try lock.withLock { _ in
            do {
                let rows = try rows()
                if rows.isEmpty { place = .end }
                return rows.isEmpty ? nil : rows
            } catch {
                place = .end
                throw batches.database.options.failed(error, operation: batches.operation, table: batches.table)
            }
        }
    }

    private func rows() throws -> [Row] {
        try batches.database.checkOpen()
        let size = Swift.max(1, batches.size)
        switch place {
        case .start:
            place = try open()
            return try rows()
        case .open(let snapshot, var select):
            let rows = try snapshot.read { try select.next(size, context($0)) }
            place = select.isAtEnd ? .rest([]) : .open(snapshot, select)
            return rows
        case .rest(let rest):
            place = .rest(rest.dropFirst(size))
            return Array(rest.prefix(size))
        case .end: return []
        }
    }

    private func open() throws -> Place {
        let reading = try batches.reading()
        let snapshot = try batches.database.replica.withConnections { try ($0 as? DatabasePool)?.makeSnapshot() }
        if let snapshot {
            let select = try snapshot.read { try OpenSelect(reading, context($0)) }
            return .open(snapshot, select)
        }
        return try batches.database.access { context in
            var select = try OpenSelect(reading, context)
            return .rest(try select.next(.max, context)[...])
        }
    }

    private func context(_ db: GRDB.Database) -> AccessContext { AccessContext(batches.database, db) }
}

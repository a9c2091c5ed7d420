/// The live objects of the rows of a query, in batches: `Query.batches(of:in:)`.
public struct Batches<M: Model>: AsyncSequence, Sendable {
    public typealias Element = [M]
    public typealias Failure = any Error

    let query: Query<M>
    let size: Int
    let database: Database

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(batches: self) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        private let batches: Batches
        private var walk = PageWalk()

        fileprivate init(batches: Batches) { self.batches = batches }

        /// The next objects; nil after the last row.
        ///
        /// - Throws: What ``Query/page(size:after:in:)`` throws, and `CancellationError`. The next call reads
        ///   the same batch again.
        public mutating func next() async throws -> [M]? { try await next(isolation: nil) }

        /// Like ``next()``, for a loop on an actor.
        ///
        /// - Throws: What ``next()`` throws.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> [M]? {
            let batches = batches
            return try await walk.next(batches.database) { cursor in
                let page = try batches.query.page(size: batches.size, after: cursor, in: batches.database)
                return (page.objects, page.next)
            }
        }
    }
}

/// The values of the rows of a query, in batches: ``Query/valueBatches(of:in:)``.
public struct ValueBatches<M: Model>: AsyncSequence, Sendable {
    public typealias Element = [M.Fields]
    public typealias Failure = any Error

    let query: Query<M>
    let size: Int
    let database: Database

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(batches: self) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        private let batches: ValueBatches
        private var walk = PageWalk()

        fileprivate init(batches: ValueBatches) { self.batches = batches }

        /// The next values; nil after the last row.
        ///
        /// - Throws: What ``Query/page(size:after:in:)`` throws, and `CancellationError`. The next call reads
        ///   the same batch again.
        public mutating func next() async throws -> [M.Fields]? { try await next(isolation: nil) }

        /// Like ``next()``, for a loop on an actor.
        ///
        /// - Throws: What ``next()`` throws.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> [M.Fields]? {
            let batches = batches
            return try await walk.next(batches.database) { cursor in
                try batches.query.valuePage(
                    Keyset(batches.query), size: batches.size, after: cursor, in: batches.database)
            }
        }
    }
}

/// The place of an iterator between the pages of a query.
private struct PageWalk {
    private enum Place {
        case start
        case after(PageCursor)
        case end
    }

    private var place = Place.start

    /// Reads the next page that has rows, on a thread for reads; nil after the last one.
    mutating func next<Element: Sendable>(
        isolation actor: isolated (any Actor)? = #isolation, _ database: Database,
        _ read: @escaping @Sendable (PageCursor?) throws -> ([Element], PageCursor?)
    ) async throws -> [Element]? {
        while true {
            let cursor: PageCursor?
            switch place {
            case .start: cursor = nil
            case .after(let known): cursor = known
            case .end: return nil
            }
            let (elements, next) = try await database.read { try read(cursor) }
            place = next.map { .after($0) } ?? .end
            // All rows of a page may have been deleted while it was read, or skipped.
            if !elements.isEmpty { return elements }
        }
    }
}

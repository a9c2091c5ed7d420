import GRDB
import GRDBSQLite
import Journal
import Synchronization

/// The part of a journal entry that live objects and change events need.
struct TailEntry {
    let seq: Int64
    /// nil for a change made on this file.
    let origin: OriginID?
    let endsTransaction: Bool
    let shape: ShapeRegistry.Entry
    let operation: Journal.Operation
    let key: [Value]
    let mask: ColumnMask

    /// The names of the columns that an update changed.
    var columns: [String] {
        var names: [String] = []
        mask.forEach { names.append(shape.shape.columns[$0]) }
        return names
    }
}

/// Reads the end of the journal: which origin changed which key and which columns.
///
/// ``JournalReader`` also derives versions, stamps and lives, for which it reads runs, lives and everything
/// since the derived state was last stored. A save needs none of these and must not pay for them, so this
/// type reads the rows as the triggers wrote them.
final class JournalTail: Sendable {
    fileprivate struct Cache {
        var shapes: [Int64: ShapeRegistry.Entry] = [:]
        var origins: [Int64: OriginID] = [:]
        var maskWords = 0
        /// The statement that reads the entries after a position.
        var sql = ""
    }

    private let cache = Mutex(Cache())

    /// Calls `body` with each entry after `position`, oldest first.
    func forEach(after position: Int64, in db: GRDB.Database, _ body: (TailEntry) throws -> Void) throws {
        if cache.withLock({ $0.shapes.isEmpty }) { try load(db) }
        guard let unknown = try scan(after: position, isFirstLook: true, db, body) else { return }
        // The schema has changed, or a new peer has appeared, after the cache was filled.
        try load(db)
        if let damaged = try scan(after: unknown - 1, isFirstLook: false, db, body) {
            throw StoreError(
                .corrupt, "Entry \(damaged) of the journal is not readable",
                hint: "The tables named _journal… are Tandem's own; restore the file from a peer or a backup.")
        }
    }

    /// Clears the cache: the shapes may have been read in a transaction that was rolled back, and later
    /// shapes may have the same numbers.
    func invalidate() { cache.withLock { $0 = Cache() } }

    /// Calls `body` with each entry after `position` that the cache can read.
    ///
    /// - Parameter isFirstLook: True treats the shape of a local entry as unknown when the cache does not
    ///   know it as tracked: changes of peers may have arrived before their table was created here, so the
    ///   cached shape may be outdated.
    /// - Returns: The position of the first entry that names an unknown shape or origin; nil when all entries
    ///   were visited.
    private func scan(
        after position: Int64, isFirstLook: Bool, _ db: GRDB.Database, _ body: (TailEntry) throws -> Void
    ) throws -> Int64? {
        let cache = cache.withLock { $0 }
        return try PreparedStatement(db, cache.sql).run { statement in
            try statement.parameters.bind(position, at: 0)
            while try statement.step() {
                guard let entry = TailEntry(statement.handle, cache),
                    !isFirstLook || entry.origin != nil || entry.shape.isTracked
                else {
                    return sqlite3_column_int64(statement.handle, 0)
                }
                try body(entry)
            }
            return nil
        }
    }

    private func load(_ db: GRDB.Database) throws {
        do {
            let registry = try ShapeRegistry(db)
            let origins = try OriginTable(db).origins
            let keyColumns = registry.entries.values.map(\.shape.keyCount).max() ?? 0
            let widest = registry.entries.values.map(\.shape.columns.count).max() ?? 0
            let maskWords = max(1, (widest + ColumnMask.bitsPerWord - 1) / ColumnMask.bitsPerWord)
            cache.withLock {
                $0 = Cache(
                    shapes: registry.entries, origins: origins, maskWords: maskWords,
                    sql: JournalTail.select(keyColumns: keyColumns, maskWords: maskWords))
            }
        } catch {
            throw StoreError.wrapping(error, operation: "reading the journal")
        }
    }

    private static func select(keyColumns: Int, maskWords: Int) -> String {
        let masks = (0..<maskWords).map { $0 == 0 ? "mask" : "mask\($0)" }
        let columns = ["seq", "origin", "tx", "shape", "op"] + masks + (0..<keyColumns).map { "v\($0)" }
        return "SELECT \(columns.joined(separator: ", ")) FROM _journal WHERE seq > ? ORDER BY seq"
    }

    /// The shape that the triggers of the table with the number `id` write; nil when there is no such table.
    func trackedShape(ofTable id: Int64, in db: GRDB.Database) throws -> ShapeRegistry.Entry? {
        func known() -> ShapeRegistry.Entry? {
            cache.withLock { cache in cache.shapes.values.first { $0.isTracked && $0.table == id } }
        }
        if let shape = known() { return shape }
        try load(db)
        return known()
    }

    /// The folded names of the tables that are captured.
    func trackedTables(_ db: GRDB.Database) throws -> Set<String> {
        if cache.withLock({ $0.shapes.isEmpty }) { try load(db) }
        return cache.withLock { cache in
            Set(cache.shapes.values.lazy.filter(\.isTracked).map { SQLText.foldedName($0.shape.table) })
        }
    }
}

extension TailEntry {
    /// Reads the statement's current row; nil when it names a shape or an origin that the cache lacks.
    fileprivate init?(_ handle: OpaquePointer, _ cache: JournalTail.Cache) {
        guard let shape = cache.shapes[sqlite3_column_int64(handle, 3)],
            let operation = Journal.Operation(rawValue: sqlite3_column_int64(handle, 4))
        else { return nil }
        self.shape = shape
        self.operation = operation
        seq = sqlite3_column_int64(handle, 0)
        endsTransaction = sqlite3_column_int64(handle, 2) == 1
        if sqlite3_column_type(handle, 1) == SQLITE_NULL {
            origin = nil
        } else {
            guard let known = cache.origins[sqlite3_column_int64(handle, 1)] else { return nil }
            origin = known
        }
        let first = 5 + cache.maskWords
        key = (0..<shape.shape.keyCount).map { ColumnCursor(statement: handle, index: Int32(first + $0)).value }
        mask =
            operation == .update
            ? ColumnMask(
                words: (0..<cache.maskWords).map { UInt64(bitPattern: sqlite3_column_int64(handle, Int32(5 + $0))) })
            : ColumnMask()
    }
}

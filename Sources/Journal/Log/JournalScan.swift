import GRDB

/// A journal entry without its values. Merging reads many of these.
package struct ScannedChange: Sendable {
    /// The position in this file, from 1 on.
    package let seq: Int64
    /// The replica that wrote the change, also when it is this one.
    package let origin: OriginID
    /// The version of ``origin``, from 1 on.
    package let version: Int64
    /// When it was written, by the clock of its writer.
    package let stamp: Stamp
    /// As in ``Change/life``.
    package let life: Int64
    /// What was done to the row.
    package let operation: Operation
    /// As in ``Change/mask``.
    package let mask: ColumnMask
    /// The table and its columns as the entry was written.
    package let shape: ShapeRegistry.Entry
    /// The canonical bytes of the primary key, for comparing rows.
    package let key: Key
    /// What the writer had merged when it wrote the change.
    package let known: VersionVector
    /// As in ``Change/migration``.
    package let migration: MigrationRank?

    /// The change's place in the order that decides which of two writes is later.
    package var order: WriteOrder { WriteOrder(stamp: stamp, origin: origin, migration: migration) }

    /// Creates a change that is not in a journal, for merging it.
    package init(
        seq: Int64, origin: OriginID, version: Int64, stamp: Stamp, life: Int64, operation: Operation, mask: ColumnMask,
        shape: ShapeRegistry.Entry, key: Key, known: VersionVector, migration: MigrationRank?
    ) {
        self.seq = seq
        self.origin = origin
        self.version = version
        self.stamp = stamp
        self.life = life
        self.operation = operation
        self.mask = mask
        self.shape = shape
        self.key = key
        self.known = known
        self.migration = migration
    }

    /// True when the writer of this change had merged version `version` of `origin`.
    package func knows(_ origin: OriginID, _ version: Int64) -> Bool {
        origin == self.origin ? self.version >= version : known[origin] >= version
    }
}

/// The properties that the entries of a run share.
package struct ScannedRun: Sendable {
    /// The replica that wrote the entries, also when it is this one.
    package let origin: OriginID
    /// The causal context: what the writer had merged when it wrote the entries.
    package let known: VersionVector
    /// The position of the first entry, from 1 on; the others follow without a gap.
    package let firstSeq: Int64
    /// The version of the first entry, from 1 on; the others follow without a gap.
    package let firstVersion: Int64

    /// Creates a run that is not in a journal, for merging it.
    package init(origin: OriginID, known: VersionVector, firstSeq: Int64, firstVersion: Int64) {
        self.origin = origin
        self.known = known
        self.firstSeq = firstSeq
        self.firstVersion = firstVersion
    }

    /// The version of the entry at position `seq`.
    package func version(at seq: Int64) -> Int64 { firstVersion + (seq - firstSeq) }
    /// The position of the entry with `version`.
    package func seq(of version: Int64) -> Int64 { firstSeq + (version - firstVersion) }
}

/// The current entry of a scan. Its parts are read on demand, and only until the scan moves on.
package struct ScannedRow {
    let cursor: JournalCursor

    /// The position in this file.
    package var seq: Int64 { cursor.seq }
    /// The id that all shapes of the table share.
    package var tableID: Int64 { cursor.entry.table }
    /// The shape's id in this file.
    package var shapeID: Int64 { cursor.entry.id }
    /// When it was written, by the clock of its writer.
    package var stamp: Stamp { cursor.stamp }
    /// As in ``Change/life``.
    package var life: Int64 { cursor.life }
    /// What was done to the row.
    package var operation: Operation { cursor.operation }
    /// As in ``Change/migration``.
    package var migration: MigrationRank? { cursor.migration }

    /// As in ``Change/mask``. For an insert it includes the key columns.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` for a column that the shape does not have.
    package func mask() throws -> ColumnMask { try cursor.mask() }
    /// Appends the canonical bytes of the primary key (``Key``).
    package func appendKey(to bytes: inout [UInt8]) { cursor.appendKey(to: &bytes) }
}

extension JournalReader {
    /// Calls `body` with each entry from position `seq` on, in journal order.
    ///
    /// - Throws: What `body` throws; ``JournalError/Code/corrupt`` for a malformed entry or run; errors of
    ///   SQLite.
    package func scan(from seq: Int64, _ body: (ScannedRun, ScannedRow) throws -> Void) throws {
        for run in try runs.runs(from: seq) where run.endSeq > seq {
            let scanned = ScannedRun(
                origin: run.origin, known: run.known, firstSeq: run.firstSeq, firstVersion: run.firstVersion)
            let cursor = try cursor(over: run, from: seq, reading: .keys)
            while try cursor.next() {
                if cursor.seq >= seq { try body(scanned, ScannedRow(cursor: cursor)) }
            }
        }
    }
}

extension JournalReader {
    /// Calls `body` with each entry of the tables with the ids `tables` from position `seq` on, in journal
    /// order.
    ///
    /// - Throws: What `body` throws; ``JournalError/Code/corrupt`` for a malformed entry or run; errors of
    ///   SQLite.
    package func scan(tables: Set<Int64>, from seq: Int64 = 0, _ body: (ScannedChange) throws -> Void) throws {
        for run in try runs.runs(from: seq) where run.endSeq > seq {
            let cursor = try cursor(over: run, from: max(seq, run.firstSeq), reading: .keys)
            while try cursor.next() {
                guard cursor.seq >= seq, tables.contains(cursor.entry.table) else { continue }
                try body(
                    ScannedChange(
                        seq: cursor.seq, origin: run.origin, version: cursor.version, stamp: cursor.stamp,
                        life: cursor.life, operation: cursor.operation, mask: try cursor.mask(), shape: cursor.entry,
                        key: cursor.key, known: run.known, migration: cursor.migration))
            }
        }
    }
}

extension JournalReader {
    /// Calls `body` with each entry of the tables with the ids `tables`, in journal order, with its values.
    ///
    /// - Parameter isWanted: Returns false for a run to leave out, by its origin, its last version and its
    ///   causal context.
    /// - Throws: What `body` throws; ``JournalError/Code/corrupt`` for a malformed entry or run; errors of
    ///   SQLite.
    package func scanEntries(
        tables: Set<Int64>, ofRuns isWanted: (OriginID, Int64, VersionVector) -> Bool,
        _ body: (JournalEntry) throws -> Void
    ) throws {
        for run in try runs.runs(from: 0) where isWanted(run.origin, run.endVersion - 1, run.known) {
            let cursor = try cursor(over: run, from: run.firstSeq)
            while try cursor.next() {
                guard tables.contains(cursor.entry.table) else { continue }
                try body(try entry(at: cursor, in: run))
            }
        }
    }
}

/// Fetches single values of journal entries by position.
package final class JournalValues {
    private let db: Database
    private var statements: [Int: RawStatement] = [:]

    /// Prepares statements when they are first needed. Use the value inside of the access that hands out
    /// `db`.
    package init(_ db: Database) { self.db = db }

    /// Fetches the value that the entry at `seq` has for the column at index `column` of its shape. The
    /// entry's mask must contain that column.
    ///
    /// - Returns: The value; NULL when there is no such entry.
    /// - Throws: ``JournalError`` with the code for the SQLite error, also when `_journal` has no such
    ///   column.
    package func value(at seq: Int64, column: Int) throws -> Value {
        let statement: RawStatement
        if let known = statements[column] {
            statement = known
        } else {
            statement = try RawStatement(db, "SELECT v\(column) FROM _journal WHERE seq = ?")
            statements[column] = statement
        }
        try statement.bind(seq, at: 1)
        defer { statement.reset() }
        return try statement.step() ? statement.column(0) : .null
    }
}

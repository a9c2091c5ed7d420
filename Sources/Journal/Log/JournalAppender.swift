import Foundation
import GRDB

/// Appends changes of other origins to the journal, inside of the transaction that applies them.
///
/// Order of use: ``init(_:)``, which materializes the derived state; for each stretch
/// ``begin(origin:firstVersion:known:)`` and ``append(_:shapes:values:)``; at the end ``finish()``. After a
/// throw the transaction must be rolled back.
package final class JournalAppender {
    private let db: Database
    private let own: OriginID
    /// The origins that the file knows, with what this value has appended.
    package private(set) var origins: OriginTable
    /// The shapes that the file knows, with those that this value has registered.
    package private(set) var registry: ShapeRegistry
    private var nextSeq: Int64
    private var floor: Stamp
    private let localVersion: Int64
    private let localNumber: Int64
    private var current: (number: Int64, version: Int64)?
    /// The statements by the number of columns of a shape.
    private var inserts: [Int: JournalInsert] = [:]
    private var hasAppended = false

    /// Materializes the derived state, and prepares to append after the newest entry.
    ///
    /// - Throws: As ``JournalReader/init(_:)``, and ``JournalError/Code/corrupt`` when the journal does not
    ///   end with a local run.
    package init(_ db: Database) throws {
        self.db = db
        try DerivedState.materialize(db)
        let reader = try JournalReader(db)
        own = reader.identity.origin
        origins = reader.origins
        registry = reader.registry
        nextSeq = reader.lastSeq + 1
        floor = reader.identity.sealedStamp
        let (run, number) = try reader.localRun()
        localVersion = run.version(at: nextSeq)
        localNumber = number
    }

    /// The position of the next change to append.
    package var position: Int64 { nextSeq }

    /// Returns the local shape equal to a peer's shape, and adds it when it is new.
    ///
    /// - Throws: Errors of SQLite.
    package func register(_ shape: TableShape) throws -> ShapeRegistry.Entry {
        try registry.register(shape, in: db)
    }

    /// Records which columns of a shape the rows here show: see ``ShapeRegistry/Entry/shownColumns``.
    ///
    /// - Throws: Errors of SQLite.
    package func show(_ columns: [String], of shape: Int64) throws {
        try registry.show(columns, of: shape, in: db)
    }

    /// Starts a stretch of consecutive versions of one origin.
    ///
    /// - Throws: Errors of SQLite.
    package func begin(origin: OriginID, firstVersion: Int64, known: VersionVector) throws {
        if !hasAppended {
            hasAppended = true
            try JournalRun.endTail(before: nextSeq, db)
            try MintedMarks.clear(from: nextSeq, db)
        }
        var known = known
        known = VersionVector(known.entries.filter { $0.origin != origin })
        for entry in known.entries { _ = try origins.number(of: entry.origin, in: db) }
        let number = try origins.number(of: origin, in: db)
        let mark = origins.encode(known)
        if try !extendsLastRun(number: number, firstVersion: firstVersion, mark: mark) {
            try JournalRun.insert(
                at: nextSeq, origin: number, firstVersion: firstVersion, floor: floor, known: mark, db)
        }
        current = (number, firstVersion)
    }

    /// True when this file has all that the writer of changes of `origin` had merged.
    package func covers(_ known: VersionVector, of origin: OriginID) -> Bool {
        origins.cover(known, except: [own, origin])
    }

    /// Appends changes of the stretch.
    ///
    /// - Parameters:
    ///   - shapes: The local shapes from ``register(_:)``, in which ``Change/shape`` is an index.
    ///   - values: The values, in which ``Change/values`` is a range of indices.
    /// - Returns: The position of the first change; the others follow without a gap.
    /// - Throws: ``JournalError``: `invalid` before ``begin(origin:firstVersion:known:)``, otherwise the code
    ///   for the SQLite error.
    @discardableResult
    package func append(
        _ changes: ArraySlice<Change>, shapes: [ShapeRegistry.Entry], values: [Value]
    ) throws -> Int64 {
        guard var current else { throw JournalError(.invalid, "Append before begin") }
        let first = nextSeq
        var rest = changes
        while let next = rest.first {
            let columns = shapes[next.shape].shape.columns.count
            let end = rest.firstIndex { shapes[$0.shape].shape.columns.count != columns } ?? rest.endIndex
            try insert(columns: columns).run(
                rest[..<end], shapes: shapes, values: values, origin: current.number, version: current.version)
            nextSeq += Int64(end - rest.startIndex)
            current.version += Int64(end - rest.startIndex)
            rest = rest[end...]
        }
        for change in changes { floor = max(floor, change.stamp) }
        for (offset, change) in changes.enumerated() where change.isMinted {
            try MintedMarks.mark(first + Int64(offset), shape: shapes[change.shape].id, db)
            if change.isCovering { try CoveringInserts.note(first + Int64(offset), db) }
        }
        for (offset, change) in changes.enumerated() {
            if let rank = change.migration { try MigratedEntries.note(rank, at: first + Int64(offset), db) }
        }
        self.current = current
        return first
    }

    /// Ends the appended part: it starts a new local run whose causal context includes the appended changes.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` when the journal does not end with the appended changes;
    ///   errors of SQLite.
    package func finish() throws {
        guard hasAppended else { return }
        guard try JournalReader.lastSeq(db) == nextSeq - 1 else {
            throw JournalError(.corrupt, "The journal does not end with the rows that were appended")
        }
        if let current { try origins.advance(current.number, to: current.version - 1, in: db) }
        try JournalRun.insert(
            at: nextSeq, origin: localNumber, firstVersion: localVersion, floor: floor,
            known: origins.encode(origins.merged(except: own)), db)
        try db.execute(
            sql: "UPDATE _journal_replica SET sealed_seq = ?, sealed_stamp = ?",
            arguments: [nextSeq - 1, floor.rawValue])
    }

    // MARK: - Pieces

    /// Returns true when the stretch continues the last run: a writer that merges nothing writes many
    /// stretches with the same causal context, and they form one run.
    private func extendsLastRun(number: Int64, firstVersion: Int64, mark: Data) throws -> Bool {
        if let current { try origins.advance(current.number, to: current.version - 1, in: db) }
        let last = try Row.fetchOne(
            db, sql: "SELECT first_seq, origin, first_version, known FROM _journal_runs ORDER BY first_seq DESC LIMIT 1"
        )
        guard let last, last["origin"] == number, last["known"] == mark else { return false }
        let first: Int64 = last["first_seq"]
        let version: Int64 = last["first_version"]
        // Entries that were captured here under an earlier origin hold capture times, and entries of it that
        // a peer sends back hold stamps. A run holds entries of one kind only.
        if origins.retired.contains(number),
            try Bool.fetchOne(
                db, sql: "SELECT origin IS NULL FROM _journal WHERE seq >= ? ORDER BY seq LIMIT 1", arguments: [first])
                ?? false
        {
            return false
        }
        return version + (nextSeq - first) == firstVersion
    }

    private func insert(columns count: Int) throws -> JournalInsert {
        if let insert = inserts[count] { return insert }
        let insert = try JournalInsert(db, columns: count)
        inserts[count] = insert
        return insert
    }
}

import GRDB
import Journal

/// Reads the visibility notices: rows whose visibility changed without a journal entry of their own, because
/// a merge set them aside or showed them again after changes of other rows.
enum VisibilityTail {
    /// The number of the newest notice in the snapshot of `db`; 0 in a file that has none, such as a file of
    /// an earlier release that is opened for reading only.
    static func lastID(_ db: GRDB.Database) throws -> Int64 {
        do {
            return try VisibilityNotice.lastID(db)
        } catch let error as DatabaseError where error.message?.hasPrefix("no such table") == true {
            return 0
        }
    }
}

extension Follower {
    /// Records the rows of the notices after notice `id` as a separate commit.
    ///
    /// - Parameter seq: The journal position for their records.
    /// - Returns: The objects that may have changed.
    func followNotices(
        after id: Int64, seq: Int64, in db: GRDB.Database, tail: JournalTail
    ) throws -> [any Refreshable] {
        closeGroup()
        let notices: [VisibilityNotice.Notice]?
        do {
            notices = try VisibilityNotice.all(after: id, db)
        } catch {
            throw StoreError.wrapping(error, operation: "reading the journal")
        }
        if let notices {
            for notice in notices { try note(notice, seq: seq, in: db, tail: tail) }
        } else {
            // Some notices are deleted already, so any row of any table may have changed.
            commits.noteUnknown()
            for registry in database.allInstances() where !registry.isIdle {
                log(of: registry).noteAnyRow(origin: lastOrigin, group: group, seq: seq)
            }
        }
        closeGroup()
        return takeAffected()
    }

    /// Takes the objects of rows that got another key to that key. Another row may have the former key, so
    /// call this before the journal is followed.
    ///
    /// - Returns: The objects that were found.
    func followMoves(
        after id: Int64, in db: GRDB.Database, tail: JournalTail
    ) throws -> [any Refreshable] {
        let notices: [VisibilityNotice.Notice]
        do {
            notices = try VisibilityNotice.moves(after: id, db)
        } catch {
            throw StoreError.wrapping(error, operation: "reading the journal")
        }
        var moves: [Int64: [(from: TailEntry, to: TailEntry)]] = [:]
        for notice in notices {
            guard let from = notice.key, let to = notice.moved,
                let shape = try tail.trackedShape(ofTable: notice.table, in: db),
                let old = entry(.delete, from, of: shape), let new = entry(.insert, to, of: shape)
            else { continue }
            moves[notice.table, default: []].append((old, new))
        }
        return moves.sorted { $0.key < $1.key }.flatMap { _, moves in
            let table = SQLText.foldedName(moves[0].from.shape.shape.table)
            return (database.instancesByTable()[table] ?? []).flatMap { log(of: $0).move(moves) }
        }
    }

    private func entry(_ operation: Journal.Operation, _ key: RowImage, of shape: ShapeRegistry.Entry) -> TailEntry? {
        let byName = Dictionary(
            key.columns.map { (SQLText.foldedName($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
        let values = shape.shape.keyColumns.compactMap { byName[SQLText.foldedName($0)] }
        guard values.count == shape.shape.keyCount else { return nil }
        return TailEntry(
            seq: .max, origin: lastOrigin, endsTransaction: true, shape: shape, operation: operation, key: values,
            mask: ColumnMask())
    }

    private func note(_ notice: VisibilityNotice.Notice, seq: Int64, in db: GRDB.Database, tail: JournalTail) throws {
        guard let shape = try tail.trackedShape(ofTable: notice.table, in: db) else { return }
        let table = SQLText.foldedName(shape.shape.table)
        let logs = (database.instancesByTable()[table] ?? []).filter { !$0.isIdle }.map { log(of: $0) }
        let byName = Dictionary(
            (notice.key?.columns ?? [:]).map { (SQLText.foldedName($0.key), $0.value) },
            uniquingKeysWith: { first, _ in first })
        let key = shape.shape.keyColumns.compactMap { byName[SQLText.foldedName($0)] }
        var mask = ColumnMask()
        if notice.operation == .update {
            for column in shape.shape.keyCount..<shape.shape.columns.count { mask.insert(column) }
        }
        let entry = TailEntry(
            seq: seq, origin: lastOrigin, endsTransaction: true, shape: shape, operation: notice.operation, key: key,
            mask: mask)
        commits.note(entry)
        for log in logs {
            if key.count == shape.shape.keyCount {
                log.note(entry, group: group)
            } else {
                log.noteAnyRow(origin: lastOrigin, group: group, seq: seq)
            }
        }
    }
}

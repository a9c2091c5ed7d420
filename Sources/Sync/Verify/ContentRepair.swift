import GRDB
import Journal
import Synchronization

/// What a repair did with the rows that differ from a peer's.
public struct RepairReport: Sendable {
    /// Rows here that were not what the journal here says: made anew from it. No change of them is journalled.
    public var rebuilt = 0
    /// Rows that are here what the journal says, and differ at the peer: announced again, as ordinary changes.
    public var announced = 0
    /// Rows of which the journal here knows nothing: taken from the peer, as ordinary changes.
    public var taken = 0
    /// Rows that cannot be compared now, because they are held here.
    public var held = 0

    /// The comparison after the repair and an exchange.
    public var after: VerifyReport

    var total: Int { rebuilt + announced + taken }
}

/// Mends the rows in which two replicas differ although they know the same changes.
///
/// The journal is the truth here: of each such row its merged state is read from the journal, and
/// 1. a row that is not what the journal says is made what it says, by the connection that merges: nothing is journalled;
/// 2. a row that is what the journal says is announced again in the columns that differ, so that the peer gets it with the next
///    exchange;
/// 3. a row of which the journal knows nothing is taken from the peer, or, when only this file has it, announced.
struct ContentRepair {
    let db: Database
    let session: ApplySession
    let functions: ConflictFunctions

    /// What ``mend`` found a row to be.
    private enum Mending {
        /// What the journal says.
        case right
        /// Something else; it is now what the journal says.
        case rebuilt
        /// A row that its policy works out anew, and what it shows before that.
        case contested(visible: [Value]?)
    }

    private struct Contested {
        let id: RowStore.RowID
        let difference: VerifyReport.Difference
        let entry: ShapeRegistry.Entry
        let visible: [Value]?
    }

    func run(_ report: VerifyReport, into outcome: inout RepairReport) throws {
        let registry = try ShapeRegistry(db)
        let store = try RowStore(db, session: session, registry: registry)
        let contested = PolicyResolver(db, session: session, functions: functions)
        var undecided: [Contested] = []
        var announcements: [Announcement] = []
        var rebuilt: Set<Int64> = []
        for table in report.tables where table.problem == nil {
            guard let entry = registry.tracked(table: table.name),
                let inspection = session.context(of: entry).inspection
            else { continue }
            let context = session.context(of: entry)
            var rows: [(difference: VerifyReport.Difference, id: RowStore.RowID)] = []
            for difference in table.differences {
                let values = difference.key.map(\.value)
                // An older release also tells of rows with NULL in their key, which are not replicated.
                guard values.count == inspection.keyCount, !values.contains(.null) else { continue }
                let key = ConcurrentChanges.TableKey(
                    table: entry.table, key: Key(values, collations: context.collations))
                rows.append((difference, .init(key: key, context: context, table: inspection, values: values)))
            }
            let merged = try Backfill(db: db, session: session).mergedRows(
                of: [entry.table], among: Set(rows.map(\.id.key)))
            for (difference, id) in rows {
                if store.held[id.key] != nil {
                    outcome.held += 1
                    continue
                }
                if let row = merged[id.key] {
                    if row.life % 2 == 1, !row.isWhole { continue }
                    switch try mend(id, row, store: store, contested: contested) {
                    case .rebuilt:
                        outcome.rebuilt += 1
                        rebuilt.insert(entry.table)
                    case .right:
                        announcements.append(
                            try announcement(of: id, difference, isAlive: row.life % 2 == 1, entry: entry))
                        outcome.announced += 1
                    case .contested(let visible):
                        undecided.append(
                            Contested(id: id, difference: difference, entry: entry, visible: visible))
                    }
                } else if try session.writer(of: context, inspection).select(key: id.values) != nil {
                    announcements.append(try announcement(of: id, difference, isAlive: true, entry: entry))
                    outcome.announced += 1
                } else if let theirs = difference.theirs {
                    announcements.append(try take(theirs, id, store: store, entry: entry))
                    outcome.taken += 1
                }
            }
        }
        try contested.resolve(into: store)
        try store.updateVisibility(all: true)
        for row in undecided {
            let visible = try session.writer(of: row.id.context, row.id.table).select(key: row.id.values)
            if store.held[row.id.key] != nil {
                outcome.held += 1
            } else if visible != row.visible {
                outcome.rebuilt += 1
                rebuilt.insert(row.entry.table)
            } else if visible != nil {
                announcements.append(try announcement(of: row.id, row.difference, isAlive: true, entry: row.entry))
                outcome.announced += 1
            }
        }
        // The journal does not tell of these rows, so whoever follows it is told to look at all of their tables.
        for table in rebuilt.sorted() { try VisibilityNotice.append(table: table, .update, key: nil, to: db) }
        try VisibilityNotice.prune(db)
        for announcement in announcements { try announcement.append(db) }
        if !announcements.isEmpty {
            try db.execute(
                sql: "UPDATE _journal SET tx = 1 WHERE seq = (SELECT max(seq) FROM _journal) AND origin IS NULL")
        }
    }

    /// Makes a row what the journal says, or leaves that to `contested`.
    private func mend(
        _ id: RowStore.RowID, _ merged: Backfill.MergedRow, store: RowStore, contested: PolicyResolver
    ) throws -> Mending {
        let visible = try session.writer(of: id.context, id.table).select(key: id.values)
        guard merged.life % 2 == 1 else {
            guard visible != nil else { return .right }
            try store.remove(id)
            return .rebuilt
        }
        let values = JournalValues(db)
        var image = [Value?](repeating: nil, count: id.table.stored.count)
        var columns = ColumnMask()
        for (position, winner) in merged.winners {
            image[position] = try values.value(at: winner.seq, column: winner.column)
            if position >= id.table.keyCount { columns.insert(position) }
        }
        let isUndisturbed = visible.map { row in
            image.indices.allSatisfy { index in image[index].map { $0 == row[index] } ?? true }
        }
        switch session.policy(ofTable: id.table.name) {
        case .column:
            if isUndisturbed == true { return .right }
            try store.write(columns, isWhole: true, row: id, image: image)
            return .rebuilt
        case .row, .custom:
            // Which columns count is for the policy to say: the row is worked out anew, and may turn out to be what it was.
            if visible == nil { try store.write(columns, isWhole: true, row: id, image: image) }
            contested.add(id)
            return .contested(visible: visible)
        }
    }

    /// The change that tells everybody again what a row is here.
    private func announcement(
        of id: RowStore.RowID, _ difference: VerifyReport.Difference, isAlive: Bool, entry: ShapeRegistry.Entry
    ) throws -> Announcement {
        guard isAlive, let row = try session.writer(of: id.context, id.table).select(key: id.values) else {
            return Announcement(shape: entry, operation: .delete, values: id.values.map { $0 }, columns: [])
        }
        let all = Array(id.table.keyCount..<id.table.stored.count)
        guard case .differs(let names) = difference.kind else {
            return Announcement(shape: entry, operation: .insert, values: row, columns: all)
        }
        let folded = Set(names.map(SQLText.foldedName))
        let columns = all.filter { folded.contains(SQLText.foldedName(id.table.stored[$0].name)) }
        return Announcement(
            shape: entry, operation: columns.isEmpty ? .insert : .update, values: row,
            columns: columns.isEmpty ? all : columns)
    }

    private func take(
        _ theirs: [(column: String, value: Value)], _ id: RowStore.RowID, store: RowStore, entry: ShapeRegistry.Entry
    ) throws -> Announcement {
        var image = [Value?](repeating: nil, count: id.table.stored.count)
        var columns = ColumnMask()
        for (name, value) in theirs {
            guard
                let index = id.table.stored.firstIndex(where: {
                    SQLText.foldedName($0.name) == SQLText.foldedName(name)
                })
            else { continue }
            image[index] = value
            if index >= id.table.keyCount { columns.insert(index) }
        }
        try store.write(columns, isWhole: true, row: id, image: image)
        let row = try session.writer(of: id.context, id.table).select(key: id.values) ?? image.map { $0 ?? .null }
        return Announcement(
            shape: entry, operation: .insert, values: row, columns: Array(id.table.keyCount..<id.table.stored.count))
    }
}

/// A local change that no trigger captures, because it is no write: what a row is already.
private struct Announcement {
    let shape: ShapeRegistry.Entry
    let operation: Journal.Operation
    /// The whole row, or the key alone for a delete.
    let values: [Value]
    /// The columns besides the key that the change carries.
    let columns: [Int]

    /// Appends it to the journal like a trigger would: the reader derives version, stamp and life.
    func append(_ db: Database) throws {
        var names = ["shape", "op"]
        var bound: [Value] = [.integer(shape.id), .integer(operation.rawValue)]
        if operation == .update {
            var mask = ColumnMask()
            for column in columns { mask.insert(column) }
            for (word, bits) in mask.words.enumerated() {
                names.append(word == 0 ? "mask" : "mask\(word)")
                bound.append(.integer(Int64(bitPattern: bits)))
            }
        }
        for column in Array(0..<shape.shape.keyCount) + columns {
            names.append("v\(column)")
            bound.append(values[column])
        }
        let insert = try RawStatement(
            db,
            "INSERT INTO _journal (stamp, \(names.joined(separator: ", "))) VALUES (julianday('now'), "
                + bound.map { _ in "?" }.joined(separator: ", ") + ")")
        for (index, value) in bound.enumerated() { try insert.bind(value, at: Int32(index + 1)) }
        try insert.run()
    }
}

extension Inbox {
    /// Mends the rows that `report` lists, if both replicas still know what they knew then.
    ///
    /// - Throws: ``SyncError/Code/busy`` when the replica has learned of something since; nothing is changed then.
    func repair(_ report: VerifyReport, into outcome: inout RepairReport) throws {
        try replica.refreshDerivedState()
        outcome = try session.withLock { box in
            do {
                return try connection.write { db in
                    guard try JournalReader(db).vector() == report.ours else {
                        throw SyncError(
                            .busy, "The replica changed while it was compared", hint: "Try again when nobody writes.")
                    }
                    var outcome = outcome
                    try ContentRepair(db: db, session: current(&box, db), functions: functions)
                        .run(report, into: &outcome)
                    return outcome
                }
            } catch {
                // What the session has read and registered may have been rolled back.
                box = SessionBox()
                throw error
            }
        }
    }
}

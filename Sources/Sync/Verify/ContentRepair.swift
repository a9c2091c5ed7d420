import GRDB
import Journal
import Synchronization

/// What a repair takes for right in a row that differs from its own file's journal.
///
/// Nothing in the file tells a write that bypassed capture from damage.
public enum RepairRule: Sendable {
    /// The row: a program wrote it past the triggers. It becomes a change of its machine.
    case keepRows
    /// The journal: the file is damaged. What the row held is lost.
    case fromJournal
}

/// What a repair did with the rows that differ from a peer's.
public struct RepairReport: Sendable {
    /// Rows here that differed from the journal here, and became changes of this machine.
    public var captured = 0
    /// The same at the peer, whose file is on this machine.
    public var capturedThere = 0
    /// Rows that match the journal here, so that they differ from the journal at the peer, and were left alone.
    public var leftThere = 0
    /// Rows here that differed from the journal here and were rebuilt from it. Nothing is journalled for
    /// them.
    public var rebuilt = 0
    /// Rows here that match the journal and differ at the peer: announced again, as ordinary changes.
    public var announced = 0
    /// Rows without an entry in the journal here: taken from the peer, as ordinary changes.
    public var taken = 0
    /// Rows that cannot be compared, because they are held here.
    public var held = 0

    /// The comparison after the repair and an exchange.
    public var after: VerifyReport

    var total: Int { captured + capturedThere + rebuilt + announced + taken }
}

/// Repairs the rows in which two replicas differ although they know the same changes.
///
/// The merged state of each such row is read from the journal of this file. By the ``RepairRule``:
/// 1. A row that differs from the journal becomes a change of this machine, or is rebuilt from the journal, by the
///    merge connection; nothing is journalled then.
/// 2. A row that matches the journal is left alone, or is announced again in the columns that differ, so that the
///    peer gets it with the next exchange.
/// 3. A row without journal entries, whose key was never deleted, is taken from the peer or, when only this
///    file has it, announced.
struct ContentRepair {
    let db: Database
    let session: ApplySession
    let functions: ConflictFunctions
    let rule: RepairRule
    var extent = Extent.everything

    /// Which rows a repair looks at.
    enum Extent {
        /// All that differ.
        case everything
        /// Those that a program wrote here past capture: they differ from the journal, or only this file has them.
        /// Nobody has asked for it, so what may be bit rot is left alone; see ``BitRot``. So are rows
        /// that a function of a program merges: this process may not have it.
        case written
        /// Those that differ from the journal. The other side looks at the rest.
        case different
    }

    /// What ``mend`` found.
    private enum Mending {
        /// The row matches the journal.
        case right
        /// The row differed from the journal, and was rebuilt from it.
        case rebuilt
        /// The row differs from the journal. The change makes it what it is.
        case captured(LocalEntry)
        /// The row is merged again by its policy. `visible` is what the table showed before.
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
        var work = Work(contested: PolicyResolver(db, session: session, functions: functions))
        for table in report.tables where table.problem == nil {
            guard let entry = registry.tracked(table: table.name),
                let inspection = session.context(of: entry).inspection
            else { continue }
            try repair(table, entry, inspection, store: store, &work, &outcome)
        }
        try work.contested.resolve(into: store)
        try store.updateVisibility(all: true)
        for row in work.undecided {
            let visible = try session.writer(of: row.id.context, row.id.table).select(key: row.id.values)
            if try store.held[row.id.key] != nil {
                outcome.held += 1
            } else if let visible, let before = row.visible, visible != before,
                try isBitRot(row.id, before, instead: visible)
            {
                _ = try putBack(row, store: store, instead: visible)
            } else if visible != row.visible, rule == .keepRows {
                work.entries.append(try putBack(row, store: store, instead: visible))
                outcome.captured += 1
            } else if visible != row.visible {
                outcome.rebuilt += 1
                work.rebuilt.insert(row.entry.table)
            } else if visible != nil {
                try announce(row.id, row.difference, isAlive: true, entry: row.entry, &work, &outcome)
            }
        }
        // The journal has no entry for these rows, so a notice makes its followers read the whole tables
        // again.
        for table in work.rebuilt.sorted() { try VisibilityNotice.append(table: table, .update, key: nil, to: db) }
        try VisibilityNotice.prune(db)
        for entry in work.entries { try entry.append(db) }
        if !work.entries.isEmpty {
            try db.execute(
                sql: "UPDATE _journal SET tx = 1 WHERE seq = (SELECT max(seq) FROM _journal) AND origin IS NULL")
        }
    }

    /// What a repair collects before it writes to the journal.
    private struct Work {
        let contested: PolicyResolver
        var undecided: [Contested] = []
        var entries: [LocalEntry] = []
        /// The tables with rebuilt rows.
        var rebuilt: Set<Int64> = []
    }

    /// Repairs the rows of one table, except those that a policy merges.
    private func repair(
        _ table: VerifyReport.Table, _ entry: ShapeRegistry.Entry, _ inspection: TableInspection, store: RowStore,
        _ work: inout Work, _ outcome: inout RepairReport
    ) throws {
        let context = session.context(of: entry)
        var rows: [(difference: VerifyReport.Difference, id: RowStore.RowID)] = []
        for difference in table.differences {
            let values = difference.key.map(\.value)
            // An older release also reports rows with NULL in their key, which are not replicated.
            guard values.count == inspection.keyCount, !values.contains(.null) else { continue }
            let key = TableKey(table: entry.table, key: Key(values, collations: context.collations))
            rows.append((difference, .init(key: key, context: context, table: inspection, values: values)))
        }
        let merged = try session.mergedRows(of: [entry.table], among: Set(rows.map(\.id.key)), in: db)
        let lives = try LifeReader(db)
        for (difference, id) in rows {
            if try store.held[id.key] != nil {
                outcome.held += 1
            } else if let row = try merged[id.key] ?? deadRow(id.key, lives) {
                if row.isAlive, !row.isWhole { continue }
                switch try mend(id, row, entry, store: store, contested: work.contested) {
                case .rebuilt:
                    outcome.rebuilt += 1
                    work.rebuilt.insert(entry.table)
                case .captured(let change):
                    work.entries.append(change)
                    outcome.captured += 1
                case .right: try announce(id, difference, isAlive: row.isAlive, entry: entry, &work, &outcome)
                case .contested(let visible):
                    work.undecided.append(Contested(id: id, difference: difference, entry: entry, visible: visible))
                }
            } else if extent == .different {
                // The other side takes or announces it.
            } else if try session.writer(of: context, inspection).select(key: id.values) != nil {
                work.entries.append(try announcement(of: id, difference, isAlive: true, entry: entry))
                outcome.announced += 1
            } else if extent == .everything, let theirs = difference.theirs {
                work.entries.append(try take(theirs, id, store: store, entry: entry))
                outcome.taken += 1
            }
        }
    }

    /// The row of a key that was deleted, whose entries compaction has removed; nil for a key that is not dead.
    private func deadRow(_ key: TableKey, _ lives: LifeReader) throws -> MergedRow<JournalCell>? {
        let life = try lives.life(table: key.table, key: key.key)
        return life.isMultiple(of: 2) ? MergedRow(base: .init(life: life, key: [], cells: [:])) : nil
    }

    /// Decides about a row that differs from the journal, or leaves that to `contested`.
    private func mend(
        _ id: RowStore.RowID, _ merged: MergedRow<JournalCell>, _ entry: ShapeRegistry.Entry, store: RowStore,
        contested: PolicyResolver
    ) throws -> Mending {
        let visible = try session.writer(of: id.context, id.table).select(key: id.values)
        if extent == .written, case .custom = session.policy(ofTable: id.table.name) { return .right }
        guard merged.isAlive else {
            guard let visible else { return .right }
            if rule == .keepRows { return .captured(.insert(visible, entry)) }
            try store.remove(id)
            return .rebuilt
        }
        if rule == .keepRows, visible == nil { return .captured(.delete(id.values, entry)) }
        guard
            let (image, columns) = try merged.latestImage(
                of: id.table, JournalValues(db), defaults: session.computedDefaults(of: id.context))
        else { return .right }
        // A value of another machine may be stored as another class here.
        let form = StoredForm(id.table, db)
        let expected = try image.enumerated().map { index, value in try value.map { try form.stored($0, in: index) } }
        let isUndisturbed = visible.map { row in
            expected.indices.allSatisfy { index in expected[index].map { $0 == row[index] } ?? true }
        }
        switch session.policy(ofTable: id.table.name) {
        case .column:
            if isUndisturbed == true { return .right }
            if rule == .keepRows, let visible {
                let columns = (id.table.keyCount..<visible.count).filter { index in
                    expected[index].map { $0 != visible[index] } ?? false
                }
                if try isBitRot(id, visible, instead: expected) { return .right }
                return .captured(columns.isEmpty ? .insert(visible, entry) : .update(visible, columns: columns, entry))
            }
            try store.write(columns, isWhole: true, row: id, image: image)
            return .rebuilt
        case .row, .custom:
            // The policy decides which columns count. The row is merged again, and may turn out unchanged.
            if visible == nil { try store.write(columns, isWhole: true, row: id, image: image) }
            contested.add(id)
            return .contested(visible: visible)
        }
    }

    /// True when the disk may have changed the row, and nobody has said that a program did.
    ///
    /// - Parameters:
    ///   - read: What the row says.
    ///   - stored: What the journal says; nil where it says nothing.
    private func isBitRot(_ id: RowStore.RowID, _ read: [Value], instead stored: [Value?]) throws -> Bool {
        guard extent == .written else { return false }
        let missing = try session.defaults(of: id.context, id.table).map { $0 ?? .null }
        let order = id.table.recordOrder
        return BitRot.isOneFlip(
            of: order.map { stored[$0] ?? read[$0] }, to: order.map { read[$0] }, missing: order.map { missing[$0] },
            rowID: id.table.hasRowidKey ? order.firstIndex(of: 0) : nil)
    }

    /// Writes a row again as it was before it was merged by its policy.
    ///
    /// - Returns: The change that makes it so.
    private func putBack(_ row: Contested, store: RowStore, instead merged: [Value]?) throws -> LocalEntry {
        guard let visible = row.visible else {
            try store.remove(row.id)
            return .delete(row.id.values, row.entry)
        }
        var columns = ColumnMask()
        let all = row.id.table.keyCount..<visible.count
        for index in all { columns.insert(index) }
        try store.write(columns, isWhole: true, row: row.id, image: visible)
        guard let merged else { return .insert(visible, row.entry) }
        return .update(visible, columns: all.filter { merged[$0] != visible[$0] }, row.entry)
    }

    /// Announces a row that matches the journal here, if the rule says so.
    private func announce(
        _ id: RowStore.RowID, _ difference: VerifyReport.Difference, isAlive: Bool, entry: ShapeRegistry.Entry,
        _ work: inout Work, _ outcome: inout RepairReport
    ) throws {
        guard rule == .fromJournal else {
            outcome.leftThere += 1
            return
        }
        work.entries.append(try announcement(of: id, difference, isAlive: isAlive, entry: entry))
        outcome.announced += 1
    }

    /// The entry that announces the row as it is here again.
    private func announcement(
        of id: RowStore.RowID, _ difference: VerifyReport.Difference, isAlive: Bool, entry: ShapeRegistry.Entry
    ) throws -> LocalEntry {
        guard isAlive, let row = try session.writer(of: id.context, id.table).select(key: id.values) else {
            return .delete(id.values, entry)
        }
        guard case .differs(let names) = difference.kind else { return .insert(row, entry) }
        let folded = Set(names.map(SQLText.foldedName))
        let columns = (id.table.keyCount..<id.table.stored.count).filter {
            folded.contains(SQLText.foldedName(id.table.stored[$0].name))
        }
        return columns.isEmpty ? .insert(row, entry) : .update(row, columns: columns, entry)
    }

    private func take(
        _ theirs: [(column: String, value: Value)], _ id: RowStore.RowID, store: RowStore, entry: ShapeRegistry.Entry
    ) throws -> LocalEntry {
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
        return .insert(row, entry)
    }
}

extension Inbox {
    /// Repairs the rows that `report` lists.
    ///
    /// - Throws: ``SyncError/Code/busy`` when the replica has learned of changes since the comparison; nothing is
    ///   changed then. Not for ``ContentRepair/Extent/written``: what a program wrote here past capture differs from
    ///   this file's journal, whatever else has changed.
    func repair(
        _ report: VerifyReport, _ rule: RepairRule, _ extent: ContentRepair.Extent = .everything,
        into outcome: inout RepairReport
    ) throws {
        try replica.refreshDerivedState()
        outcome = try session.withLock { box in
            try box.attempt { box in
                try connection.write { db in
                    guard try extent == .written || KnownVersions(db).vector == report.ours else {
                        throw SyncError(
                            .busy, "The replica changed while it was compared", hint: "Try again when nobody writes.")
                    }
                    var outcome = outcome
                    try ContentRepair(
                        db: db, session: current(&box, db), functions: functions, rule: rule,
                        extent: extent
                    ).run(report, into: &outcome)
                    return outcome
                }
            }
        }
    }
}

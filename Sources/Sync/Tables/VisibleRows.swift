import GRDB
import GRDBSQLite
import Journal

/// Decides at the end of a transaction which rows the tables show: decision 0008, evaluated only near the
/// held rows.
///
/// `VisibleRows` (this file, +Orphans, +Substitutes) and ``RowStore`` (RowStore.swift, +Invariants, +Notices,
/// +Uncontested, +Visibility) are one mechanism in several files, and they call each other.
/// ``RowStore/updateVisibility(all:)`` runs `VisibleRows`, and `VisibleRows` moves rows in and out of their
/// tables with ``RowStore/setAside(_:)``, ``RowStore/insert(_:_:)`` and ``RowStore/remove(_:)``.
///
/// Visible rows never clash with each other, so only these rows can change their visibility: the held rows,
/// the visible rows that hold a UNIQUE value of a row with an earlier claim, and the visible rows that refer
/// to one of those. They are the *involved* rows. They are taken out of their tables, the definition is
/// evaluated on them with all other visible rows given, and the rows that it shows are inserted again. When
/// the evaluation finds another row that could be affected, that row becomes involved too and the evaluation
/// starts over. An involved row stays involved, so this ends.
final class VisibleRows {
    /// An involved row.
    final class Member {
        let row: RowStore.RowID
        let image: RowImage
        /// Why its table refuses the row regardless of other rows; nil while no attempt has shown that.
        var refusal: (reason: HoldReason, detail: String)?
        /// True when the row cannot be stored with substitutes, so that all its foreign keys are hard.
        var isHardened = false
        var reason = HoldReason.foreignKey
        var detail = ""

        init(row: RowStore.RowID, image: RowImage) {
            self.row = row
            self.image = image
        }
    }

    let store: RowStore
    let foreignKeys: ForeignKeyMap
    var involved: [TableKey: Member] = [:]
    /// The involved rows that are in their tables.
    var shown: Set<TableKey> = []
    /// Visible rows that may have to switch between a soft parent's key and its substitute.
    var softRows: [TableKey: RowStore.RowID] = [:]

    init(_ store: RowStore) {
        self.store = store
        foreignKeys = store.session.foreignKeys
    }

    /// Makes the tables show what the definition says.
    ///
    /// - Parameter isInGroup: True for a table whose held rows have to be evaluated.
    func run(isInGroup: (TableInspection) -> Bool) throws {
        try setAsideOrphans()
        let tables = store.held.tables.filter { id in
            store.session.table(id, registry: store.registry).map { isInGroup($0.table) } ?? false
        }
        for (key, held) in try store.held.rows(of: tables) where held.reason.dependsOnOthers {
            guard let (context, table) = store.session.table(key.table, registry: store.registry) else { continue }
            try involve(key, held, context: context, table: table)
        }
        repeat { try evaluate() } while try !substitute()
        // The evaluation has handled the children of the rows that it took out.
        store.removedParents = []
    }

    private func involve(
        _ key: TableKey, _ held: HeldRow, context: TableContext, table: TableInspection
    ) throws {
        guard let values = table.key(of: held.image) else { return }
        let row = RowStore.RowID(key: key, context: context, table: table, values: values)
        if held.isShown {
            softRows[key] = row
            return
        }
        guard let held = try store.setAside(row) else { return }
        let member = Member(row: row, image: held.image)
        // A row that is itself refused reports that reason and not a missing parent. Without its parent it
        // would never be tried.
        if held.reason.isOfTheRow { member.refusal = try refusal(of: member) }
        involved[key] = member
    }

    /// Tries to insert the row, and takes it out again.
    ///
    /// - Returns: Why its table refuses the row regardless of other rows; nil when it does not.
    private func refusal(of member: Member) throws -> (reason: HoldReason, detail: String)? {
        let code = try store.insert(member.row, member.image)
        if code == SQLITE_DONE { try takeOut([member]) }
        guard code != SQLITE_DONE, HoldReason(code).isOfTheRow else { return nil }
        return refusal(code)
    }

    /// The reason for which the last statement was refused with `code`.
    private func refusal(_ code: Int32) -> (reason: HoldReason, detail: String) {
        (HoldReason(code), store.db.lastErrorMessage ?? "refused by a constraint")
    }

    // MARK: - The definition

    /// Inserts the involved rows that the definition shows, and holds the others with their reasons.
    private func evaluate() throws {
        guard !involved.isEmpty else { return }
        while true {
            guard let result = try attempt() else { continue }
            shown = result
            for (key, member) in involved {
                if shown.contains(key) {
                    try store.held.release(key)
                    softRows[key] = member.row
                } else {
                    let (reason, detail) = member.refusal ?? (member.reason, member.detail)
                    try store.held.hold(key, HeldRow(reason: reason, detail: detail, image: member.image))
                }
            }
            return
        }
    }

    /// Evaluates the definition once, on the rows that are involved so far.
    ///
    /// - Returns: The rows that it inserted; nil when it found another row to involve, or a row that its
    ///   table refuses by itself. All involved rows are out of their tables then.
    private func attempt() throws -> Set<TableKey>? {
        var remaining = involved.values.filter { $0.refusal == nil }.sorted { $0.row.key < $1.row.key }
        var shown: [Member] = []
        var firstRound: Set<TableKey> = []
        for round in 0... {
            let candidates = try closed(remaining)
            let isCandidate = Set(candidates.map(\.row.key))
            for member in remaining where !isCandidate.contains(member.row.key) {
                member.reason = .foreignKey
                member.detail = try missingParent(of: member)
            }
            guard let taken = try take(candidates, isFirstRound: round == 0) else {
                try takeOut(shown)
                return nil
            }
            let kept = try keepClosed(taken)
            shown += kept
            let keys = Set(kept.map(\.row.key))
            if round == 0 { firstRound = keys }
            remaining.removeAll { keys.contains($0.row.key) }
            if kept.isEmpty || remaining.isEmpty { break }
        }
        if try joinChildren(notShownIn: firstRound) {
            try takeOut(shown)
            return nil
        }
        return Set(shown.map(\.row.key))
    }

    /// Inserts the rows of `candidates`. Where they clash, rows with earlier claims come first.
    ///
    /// - Returns: The rows inserted; nil when a visible row became involved, or a table refuses a row by
    ///   itself. None is inserted then.
    private func take(_ candidates: [Member], isFirstRound: Bool) throws -> [Member]? {
        // Without a clash the order does not matter, and claims need not be read.
        var taken: [Member] = []
        var clashes = false
        for member in candidates {
            let code = try store.insert(member.row, member.image)
            if code == SQLITE_DONE {
                taken.append(member)
                continue
            }
            if HoldReason(code) != .unique { return try refuse(member, code, taking: taken) }
            clashes = true
            break
        }
        guard clashes else { return taken }
        try takeOut(taken)
        taken = []
        for (member, claim) in try byClaim(candidates) {
            let code = try store.insert(member.row, member.image)
            if code == SQLITE_DONE {
                taken.append(member)
                continue
            }
            if HoldReason(code) != .unique { return try refuse(member, code, taking: taken) }
            member.reason = .unique
            member.detail = store.db.lastErrorMessage ?? "UNIQUE constraint failed"
            if isFirstRound, try involveLaterClaims(than: claim, inTheWayOf: member) {
                try takeOut(taken)
                return nil
            }
        }
        return taken
    }

    private func refuse(_ member: Member, _ code: Int32, taking taken: [Member]) throws -> [Member]? {
        member.refusal = refusal(code)
        try takeOut(taken)
        return nil
    }

    private func byClaim(_ members: [Member]) throws -> [(member: Member, claim: WriteOrder)] {
        let claims = try claims(of: members.map(\.row))
        return zip(members, claims).map { (member: $0, claim: $1) }.sorted {
            $0.claim == $1.claim ? $0.member.row.key < $1.member.row.key : $0.claim < $1.claim
        }
    }

    /// Involves the visible rows with later claims that hold a UNIQUE value of `member`.
    ///
    /// - Returns: True when there was such a row.
    private func involveLaterClaims(than claim: WriteOrder, inTheWayOf member: Member) throws -> Bool {
        let row = member.row
        var rivals: [TableKey: RowStore.RowID] = [:]
        for index in try store.session.uniqueRivals(of: row.context, row.table) {
            for values in try index.keys(of: { member.image[row.table, $0] }) {
                let key = TableKey(table: row.key.table, key: Key(values, collations: row.context.collations))
                guard involved[key] == nil else { continue }
                rivals[key] = RowStore.RowID(key: key, context: row.context, table: row.table, values: values)
            }
        }
        let sorted = rivals.values.sorted { $0.key < $1.key }
        var isChanged = false
        for (rival, rivalClaim) in zip(sorted, try claims(of: sorted)) where rivalClaim > claim {
            try join(rival)
            isChanged = true
        }
        return isChanged
    }

    private func claims(of rows: [RowStore.RowID]) throws -> [WriteOrder] {
        try store.session.claims.claims(of: rows, session: store.session)
    }

    /// Takes a visible row out of its table and makes it involved.
    private func join(_ row: RowStore.RowID) throws {
        let writer = store.session.writer(of: row.context, row.table)
        var image = try store.setAside(row)?.image
        if image == nil, let values = try writer.select(key: row.values) {
            image = RowImage(values, of: row.table)
            // Its children are handled when the evaluation knows whether the row is shown again.
            _ = try writer.delete(key: row.values)
        }
        guard let image else { return }
        involved[row.key] = Member(row: row, image: image)
        softRows[row.key] = nil
    }

    /// Involves the visible rows that refer to a row that the first round does not show.
    ///
    /// A row that the first round shows counts as unchanged. A child with a soft key stays in its table and
    /// gets its substitute later.
    ///
    /// - Returns: True when a row became involved.
    private func joinChildren(notShownIn firstRound: Set<TableKey>) throws -> Bool {
        var isChanged = false
        for member in involved.values.sorted(by: { $0.row.key < $1.row.key })
        where !firstRound.contains(member.row.key) {
            let values = member.row.table.stored.indices.map { member.image[member.row.table, $0] ?? .null }
            for key in member.row.context.references {
                guard let parent = store.parentValues(key, table: member.row.table, row: values) else { continue }
                for child in try children(of: key, values: parent) where involved[child.key] == nil {
                    if try isSatisfied(softly: key) {
                        softRows[child.key] = child
                    } else {
                        try join(child)
                        isChanged = true
                    }
                }
            }
        }
        return isChanged
    }

    func takeOut(_ members: [Member]) throws {
        for member in members {
            _ = try store.session.writer(of: member.row.context, member.row.table).delete(key: member.row.values)
        }
    }

    // MARK: - Parents

    func children(of key: ForeignKey, values: [Value]) throws -> [RowStore.RowID] {
        guard let context = store.session.context(ofTable: key.child, registry: store.registry),
            let table = context.inspection
        else { return [] }
        return try foreignKeys.children(of: key, table: table, values: values).map { child in
            let tableKey = TableKey(table: context.tableID, key: Key(child, collations: context.collations))
            return RowStore.RowID(key: tableKey, context: context, table: table, values: child)
        }
    }

    func detail(of key: ForeignKey) -> String {
        "no row of \(key.parent) for \(key.parentColumns.joined(separator: ", "))"
    }

    /// True when a row can show a substitute for the parent that `key` names: NULL, or a default whose parent
    /// is visible.
    func isSatisfied(softly key: ForeignKey) throws -> Bool {
        guard case .values(let values) = key.substitute else { return false }
        return try values.contains(.null) || foreignKeys.parentExists(key, values: values)
    }

    /// The greatest subset of `members` in which each row finds its hard parents in the subset or in the
    /// tables. None of them is in its table.
    private func closed(_ members: [Member]) throws -> [Member] {
        try Dependence(members, store).reduce { member, provided in
            try violation(of: member, isProvided: provided) != nil
        }
    }

    /// Takes rows out of their tables again until each of the others finds its hard parents there.
    ///
    /// - Returns: The rows that stay.
    private func keepClosed(_ members: [Member]) throws -> [Member] {
        var failing: [Member] = []
        let kept = try Dependence(members, store).reduce { member, _ in
            guard try violation(of: member, isProvided: { _, _ in false }) != nil else { return false }
            try takeOut([member])
            failing.append(member)
            return true
        }
        // Which parent is missing is told from the rows that stay, so it does not depend on the order.
        for member in failing {
            member.reason = .foreignKey
            member.detail = try missingParent(of: member)
        }
        return kept
    }

    /// The first foreign key that forbids the row: its parent is neither in the tables nor, by `isProvided`,
    /// elsewhere, and no substitute is possible.
    private func violation(
        of member: Member, isProvided: (ForeignKey, [Value]) -> Bool
    ) throws -> ForeignKey? {
        for key in member.row.context.foreignKeys {
            guard let values = try foreignKeys.reference(key, row: { member.image[member.row.table, $0] }),
                !isProvided(key, values), try !foreignKeys.parentExists(key, values: values)
            else { continue }
            if !member.isHardened, case .values(let substitutes) = key.substitute,
                try substitutes.contains(.null) || isProvided(key, substitutes)
                    || foreignKeys.parentExists(key, values: substitutes)
            {
                continue
            }
            return key
        }
        return nil
    }

    private func missingParent(of member: Member) throws -> String {
        try violation(of: member) { _, _ in false }.map(detail) ?? "the row that it refers to is held"
    }
}

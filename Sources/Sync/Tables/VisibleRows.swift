import GRDB
import GRDBSQLite
import Journal

/// Decides at the end of a transaction what tables show: decision 0008, evaluated near the held rows only.
///
/// Visible rows never clash, so only these can be shown otherwise than they are: the held rows, the visible rows in the way of an
/// earlier claim, and those that refer to one of them. They are the *involved* rows. They leave their tables, the definition is
/// evaluated on them with every other visible row as given, and what it shows goes back. When the evaluation meets another row
/// that could be affected, that row joins and the evaluation starts over; rows only ever join, so it ends.
final class VisibleRows {
    /// A row that takes part.
    final class Member {
        let row: RowStore.RowID
        let image: RowImage
        /// Why the row cannot be stored by itself, when that has shown.
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

    typealias TableKey = ConcurrentChanges.TableKey

    let store: RowStore
    let foreignKeys: ForeignKeyMap
    var involved: [TableKey: Member] = [:]
    /// Those of the involved rows that stand in their tables.
    var shown: Set<TableKey> = []
    /// Rows of tables with soft keys that may have to change between value and substitute.
    var softRows: [TableKey: RowStore.RowID] = [:]

    init(_ store: RowStore) {
        self.store = store
        foreignKeys = store.session.foreignKeys
    }

    /// - Parameter isInGroup: Whether rows of a table have to be looked at.
    func run(isInGroup: (TableInspection) -> Bool) throws {
        try setAsideOrphans()
        for (key, held) in store.held.rows.sorted(by: { $0.key < $1.key }) where held.reason.dependsOnOthers {
            guard let (context, table) = store.session.table(key.table, registry: store.registry), isInGroup(table)
            else {
                continue
            }
            try involve(key, held, context: context, table: table)
        }
        repeat { try evaluate() } while try !substitute()
        // Who referred to a row that was taken out has been looked at.
        store.removedParents = []
    }

    private func involve(
        _ key: TableKey, _ held: HeldRow, context: TableContext, table: TableInspection
    ) throws {
        let values = table.stored.prefix(table.keyCount).compactMap { held.image.columns[$0.name] }
        guard values.count == table.keyCount else { return }
        let row = RowStore.RowID(key: key, context: context, table: table, values: values)
        if held.isShown {
            softRows[key] = row
            return
        }
        guard let held = try store.setAside(row) else { return }
        let member = Member(row: row, image: held.image)
        // That a row cannot be stored comes before that its parents are missing, and these keep it from being tried.
        if held.reason.isOfTheRow { member.refusal = try refusal(of: member) }
        involved[key] = member
    }

    /// - Returns: Why the row cannot be stored whatever else is there; nil when it can. It is in its table neither before nor after.
    private func refusal(of member: Member) throws -> (reason: HoldReason, detail: String)? {
        let code = try store.insert(member.row, member.image)
        if code == SQLITE_DONE { try takeOut([member]) }
        guard code != SQLITE_DONE, HoldReason(code).isOfTheRow else { return nil }
        return refusal(code)
    }

    /// The refusal of the statement that ran last.
    private func refusal(_ code: Int32) -> (reason: HoldReason, detail: String) {
        (HoldReason(code), store.db.lastErrorMessage ?? "refused by a constraint")
    }

    // MARK: - The definition

    /// Puts those of the involved rows into their tables that the definition shows, and notes why the others are not.
    private func evaluate() throws {
        guard !involved.isEmpty else { return }
        while true {
            guard let result = try attempt() else { continue }
            shown = result
            for (key, member) in involved {
                if shown.contains(key) {
                    store.held.release(key)
                    softRows[key] = member.row
                } else {
                    let (reason, detail) = member.refusal ?? (member.reason, member.detail)
                    store.held.hold(key, HeldRow(reason: reason, detail: detail, image: member.image))
                }
            }
            return
        }
    }

    /// One evaluation over the rows that are involved now.
    ///
    /// - Returns: The rows that it put into their tables; nil when it found another row to involve, or that one cannot be
    ///   stored by itself: all of them are out again then.
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

    /// Takes the rows of `candidates` into their tables, those with the earlier claims first.
    ///
    /// - Returns: The rows taken; nil when a row turned out to be in the way, or not to be a candidate. None is taken then.
    private func take(_ candidates: [Member], isFirstRound: Bool) throws -> [Member]? {
        // When nothing clashes the order means nothing, and claims need not be read.
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

    /// - Returns: True when visible rows with later claims stood in the way, and are involved now.
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

    /// Makes a visible row take part.
    private func join(_ row: RowStore.RowID) throws {
        let writer = store.session.writer(of: row.context, row.table)
        var image = try store.setAside(row)?.image
        if image == nil, let values = try writer.select(key: row.values) {
            image = RowImage(values, of: row.table)
            // Who referred to the row is looked at when it is clear whether it comes back.
            _ = try writer.delete(key: row.values)
        }
        guard let image else { return }
        involved[row.key] = Member(row: row, image: image)
        softRows[row.key] = nil
    }

    /// Involves the visible rows that refer to one that the first round does not show.
    ///
    /// Rows that it shows at once are as good as never touched. Rows referring by a soft key stay, and get their substitute later.
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

    /// True when a row can do without the parent that `key` names: it shows a substitute that needs none, or one that is there.
    func isSatisfied(softly key: ForeignKey) throws -> Bool {
        guard case .values(let values) = key.substitute else { return false }
        return try values.contains(.null) || foreignKeys.parentExists(key, values: values)
    }

    private struct Provided: Hashable {
        let foreignKey: Int
        let values: Key
    }

    /// The greatest subset of `members` of which each finds its hard parents in the subset or in the tables.
    private func closed(_ members: [Member]) throws -> [Member] {
        var members = members
        while true {
            var provided: Set<Provided> = []
            for member in members {
                let values = member.row.table.stored.indices.map { member.image[member.row.table, $0] ?? .null }
                for key in member.row.context.references {
                    guard let parent = store.parentValues(key, table: member.row.table, row: values) else { continue }
                    provided.insert(Provided(foreignKey: key.id, values: Key(parent, collations: key.parentCollations)))
                }
            }
            let remaining = try members.filter { member in
                try violation(of: member) { key, values in
                    provided.contains(
                        Provided(foreignKey: key.id, values: Key(values, collations: key.parentCollations)))
                } == nil
            }
            if remaining.count == members.count { return members }
            members = remaining
        }
    }

    /// Takes rows out of their tables again until each finds its hard parents there.
    private func keepClosed(_ members: [Member]) throws -> [Member] {
        var members = members
        while true {
            let failing = try members.filter { try violation(of: $0) { _, _ in false } != nil }
            if failing.isEmpty { return members }
            try takeOut(failing)
            let keys = Set(failing.map(\.row.key))
            for member in failing {
                member.reason = .foreignKey
                member.detail = try missingParent(of: member)
            }
            members.removeAll { keys.contains($0.row.key) }
        }
    }

    /// The first hard foreign key of a row without a parent in the tables or, by `isProvided`, elsewhere.
    private func violation(
        of member: Member, isProvided: (ForeignKey, [Value]) -> Bool
    ) throws -> ForeignKey? {
        for key in member.row.context.foreignKeys {
            guard let values = foreignKeys.reference(key, row: { member.image[member.row.table, $0] }),
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
        try violation(of: member) { _, _ in false }.map(detail) ?? "the row it refers to is held"
    }
}

import Journal

/// What a replica that was away writes about one row, on top of what the others have now.
///
/// It is pure. The writer has seen everything that the others have, so a plain write would overwrite it without
/// a conflict. Where others changed the row meanwhile, both versions are therefore written, under two origins
/// that have not seen one another: merging then finds the conflict on every replica alike, keeps the later
/// version, and records the other in the ledger. Rules:
/// 1. A column that the others did not change since gets the unseen value.
/// 2. A column that both changed is written by both branches. The later write of the two wins.
/// 3. A row that they deleted, and that was only updated here, is inserted by this branch and deleted by the
///    other: it stays deleted, and the ledger has the unseen version. One that was inserted here lives.
/// 4. A row that was deleted here is deleted. What others changed in it meanwhile is in the ledger.
/// 5. A row whose key SQLite chose after another row with that key was deleted here is a new row, not another state of
///    that one.
struct Rebase {
    /// Who writes, in the order of the stamps.
    enum Branch: Int {
        /// This replica, where the others' version wins.
        case earlier
        /// The others' version, once more.
        case theirs
        /// This replica, in everything else.
        case mine
    }

    /// One change of the row.
    struct Write {
        var branch: Branch
        var operation: Operation
        var life: Int64
        /// The values besides the key.
        var columns: [(name: String, value: Value)] = []
        var isMinted = false
    }

    let row: UnseenRows.Row
    let policy: MergePolicy
    /// The row as the others have it; nil when they have no change of it.
    let theirs: PastRow?
    /// The life of the key there, as in `Change.life`.
    let life: Int64

    /// The changes to write; none when the others have all of it.
    func writes() -> [Write] {
        switch (row.whole.isAlive, theirs?.isAlive ?? false) {
        case (true, true): row.isOwnInsert && row.base?.isAlive ?? false ? replacement() : updates()
        case (false, true): deletion()
        case (true, false): revival()
        case (false, false): []
        }
    }

    // MARK: - Both have the row

    private func updates() -> [Write] {
        guard let theirs else { return [] }
        let different = row.unseen.columns.filter { mine in
            row.whole.life == row.unseen.life && Rebase.column(mine.name, of: theirs)?.value != mine.value
        }
        let contested = different.filter { isContested($0, theirs) }
        let isLost = { (mine: PastRow.Column) -> Bool in
            // A policy for whole rows has one winner for all columns.
            guard policy == .column else { return !contested.isEmpty && row.unseen.last < theirs.last }
            guard let other = Rebase.column(mine.name, of: theirs)?.order else { return false }
            return isContested(mine, theirs) && mine.order < other
        }
        let parts: [(branch: Branch, columns: [PastRow.Column])] = [
            (.earlier, different.filter(isLost)),
            (.theirs, contested.compactMap { Rebase.column($0.name, of: theirs) }),
            (.mine, different.filter { !isLost($0) }),
        ]
        return parts.filter { !$0.columns.isEmpty }.map { branch, columns in
            Write(branch: branch, operation: .update, life: life, columns: columns.map { ($0.name, $0.value) })
        }
    }

    /// True when the others changed the column after this replica had last heard of them, and when the change
    /// here had lost to theirs already.
    private func isContested(_ mine: PastRow.Column, _ theirs: PastRow) -> Bool {
        let before = row.base.flatMap { $0.isAlive ? Rebase.column(mine.name, of: $0)?.order : nil }
        guard let now = Rebase.column(mine.name, of: theirs)?.order else { return false }
        return now != before || mine.order < now
    }

    /// The row that both had was deleted here, and SQLite gave its key to another one.
    private func replacement() -> [Write] {
        guard let theirs, !row.whole.hasSameValues(as: theirs) else { return [] }
        let columns = row.whole.columns.map { (name: $0.name, value: $0.value) }
        return deletion() + [
            Write(branch: .mine, operation: .insert, life: life + 2, columns: columns, isMinted: true)
        ]
    }

    private static func column(_ name: String, of row: PastRow) -> PastRow.Column? {
        let name = SQLText.foldedName(name)
        return row.columns.first { SQLText.foldedName($0.name) == name }
    }

    // MARK: - One of them does not

    private func deletion() -> [Write] {
        // A row that came and went here is nobody else's.
        guard let theirs, let base = row.base, base.isAlive else { return [] }
        let changed = theirs.columns.filter { Rebase.column($0.name, of: base)?.order != $0.order }
        let delete = Write(branch: .mine, operation: .delete, life: life + 1)
        guard !changed.isEmpty else { return [delete] }
        return [
            Write(branch: .theirs, operation: .update, life: life, columns: changed.map { ($0.name, $0.value) }),
            delete,
        ]
    }

    private func revival() -> [Write] {
        let isNew = life % 2 == 1
        let next = isNew ? life : life + 1
        let columns = row.whole.columns.map { (name: $0.name, value: $0.value) }
        let mine = Write(
            branch: .mine, operation: .insert, life: next, columns: columns, isMinted: row.minted != nil && isNew)
        let wasInserted = row.unseen.isWhole && row.unseen.life == row.whole.life
        guard !isNew, !wasInserted else { return [mine] }
        return [
            Write(branch: .theirs, operation: .insert, life: next, columns: columns),
            Write(branch: .theirs, operation: .delete, life: next + 1), mine,
        ]
    }
}

extension PastRow {
    /// True when changes give the same columns the same values in both.
    func hasSameValues(as other: PastRow) -> Bool {
        func values(_ row: PastRow) -> [String: Value] {
            Dictionary(row.columns.map { (SQLText.foldedName($0.name), $0.value) }, uniquingKeysWith: { $1 })
        }
        return values(self) == values(other)
    }
}

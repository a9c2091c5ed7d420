import Journal
import Sync

/// What keys and references mean when several machines minted one key, by the definition.
///
/// It follows the rules of `docs/CONFLICTS.md` one by one and looks at every pair. It shares nothing with the
/// engine but the function that names a new key.
package final class ReferenceKeys {
    /// The changes under the keys that they mean.
    package private(set) var writes: [ReferenceWrite] = []
    /// The rows that have another key than their writers chose.
    private(set) var moves: [ReferenceConflict] = []

    private struct Name: Hashable {
        let origin: OriginID
        let version: Int64
    }

    private let all: [ReferenceWrite]
    private let schema: ReferenceSchema
    /// The inserts of each contested key.
    private var claims: [ReferenceRowID: [ReferenceWrite]] = [:]
    /// The claims by the keys that their rows may have instead.
    private var claimsByNewKey: [ReferenceRowID: (row: ReferenceRowID, claim: ReferenceWrite)] = [:]
    /// What was computed before, because histories of clusters are long.
    private var images: [Name: [String: String]] = [:]
    private var movedAmong: [ReferenceRowID: [[Name]: [Name: Int64]]] = [:]
    private var domains: [String: [String?]] = [:]

    package init(_ all: [ReferenceWrite], schema: ReferenceSchema) {
        self.all = all
        self.schema = schema
        let tables = Dictionary(uniqueKeysWithValues: schema.tables.map { ($0.name, $0) })
        let inserts =
            all.contains(where: \.isMinted)
            ? Dictionary(
                grouping: all.filter { $0.operation == .insert && tables[$0.row.table]?.mints == true }, by: \.row)
            : [:]
        guard !inserts.isEmpty else {
            writes = all
            return
        }
        for (row, inserts) in inserts where ReferenceKeys.number(row.key) != nil {
            guard domain(of: row.table, column: 0) == row.table else { continue }
            let contesting = inserts.filter { a in
                inserts.contains { b in
                    (a.isMinted || b.isMinted) && a.isConcurrent(with: b)
                        || a.isCovering && a.saw(b) && b.life >= a.life
                        || b.isCovering && b.saw(a) && a.life >= b.life
                }
            }
            guard !contesting.isEmpty, let key = ReferenceKeys.number(row.key) else { continue }
            claims[row] = contesting
            for claim in contesting {
                let new = ContestedKey.newKey(table: row.table, key: key, origin: claim.origin, version: claim.version)
                claimsByNewKey[ReferenceRowID(table: row.table, key: Key([.integer(new)]).bytes)] = (row, claim)
            }
        }
        writes = all.map(interpreted)
        for (row, claims) in claims {
            let roots = claims.filter { isRoot($0, among: claims) }
            let keepers = claims.filter { key(of: $0, row) == ReferenceKeys.number(row.key) }
            guard let keeper = keepers.max(by: { $0.isEarlier(than: $1) }) else { continue }
            for root in roots where key(of: root, row) != ReferenceKeys.number(row.key) {
                moves.append(
                    ReferenceConflict(
                        lost: interpreted(root), kind: "rekeyed", columns: [schema.keyName(of: row.table)],
                        kept: interpreted(keeper), lostKey: ReferenceKeys.number(row.key)))
            }
        }
    }

    /// True when changes with the key of the row may have meant another row to a writer that had seen less.
    func isContested(_ row: ReferenceRowID) -> Bool {
        guard let number = ReferenceKeys.number(row.key), let domain = domain(of: row.table, column: 0) else {
            return false
        }
        let name = ReferenceRowID(table: domain, key: Key([.integer(number)]).bytes)
        return claims[name] != nil || claimsByNewKey[name] != nil
    }

    // MARK: - Rows

    /// The rows among `roots` whose key SQLite chose again while they were held, and those that had lost the
    /// key on that machine.
    private func left(among roots: [ReferenceWrite]) -> [[ReferenceWrite]] {
        roots.filter(\.isCovering).flatMap { write in
            let seen = roots.filter { write.saw($0) }
            return
                (seen.filter { moved($0, among: seen) != nil } + [root(seenBy: write, among: roots)].compactMap(\.self))
                .map { row(of: $0, among: roots) }
        }
    }

    /// A minted insert makes a row. An insert with a given key goes on with a row that its writer had seen.
    private func isRoot(_ write: ReferenceWrite, among claims: [ReferenceWrite]) -> Bool {
        write.isMinted || !claims.contains { write.saw($0) }
    }

    /// The claims that make one row with `write`: concurrent ones that are equal, or whose keys were given.
    private func row(of write: ReferenceWrite, among roots: [ReferenceWrite]) -> [ReferenceWrite] {
        var row = [write]
        while true {
            let more = roots.filter { root in
                !row.contains(root)
                    && row.contains { member in
                        member.isConcurrent(with: root)
                            && (!member.isMinted && !root.isMinted || image(of: member) == image(of: root))
                    }
            }
            if more.isEmpty { return row }
            row += more
        }
    }

    /// The values besides the key. A reference is named by the row that it led to on the writer's machine.
    private func image(of write: ReferenceWrite) -> [String: String] {
        let name = Name(origin: write.origin, version: write.version)
        if let known = images[name] { return known }
        let image: [String: String] = write.columns.filter { !write.keyColumns.contains($0.key) }.reduce(into: [:]) {
            image, column in
            image[column.key] = seenRow(column.value, write.row.table, column.key, by: write) ?? column.value.plain
        }
        images[name] = image
        return image
    }

    private func seenRow(_ value: Value, _ table: String, _ column: String, by write: ReferenceWrite) -> String? {
        guard case .integer(let number) = value,
            let index = schema.table(table)?.columns.firstIndex(where: { $0.name == column }),
            let domain = domain(of: table, column: index)
        else { return nil }
        if let claims = claims[ReferenceRowID(table: domain, key: Key([.integer(number)]).bytes)] {
            let seen = claims.filter { write.saw($0) && $0.isEarlier(than: write) }
            let roots = seen.filter { isRoot($0, among: seen) }
            return root(seenBy: write, among: roots).map { "row \(image(of: $0).sorted { $0.key < $1.key })" }
        }
        let known = claimsByNewKey[ReferenceRowID(table: domain, key: Key([.integer(number)]).bytes)]
        if let claim = known?.claim, write.saw(claim), claim.isEarlier(than: write) {
            return "row \(image(of: claim).sorted { $0.key < $1.key })"
        }
        return nil
    }

    /// The key that a row has among `roots`; nil when it keeps its own.
    private func moved(_ root: ReferenceWrite, among roots: [ReferenceWrite]) -> Int64? {
        let names = roots.map { Name(origin: $0.origin, version: $0.version) }
        let own = Name(origin: root.origin, version: root.version)
        if let known = movedAmong[root.row]?[names] { return known[own] }
        var all: [Name: Int64] = [:]
        for (root, name) in zip(roots, names) { all[name] = findMoved(root, among: roots) }
        movedAmong[root.row, default: [:]][names] = all
        return all[own]
    }

    private func findMoved(_ root: ReferenceWrite, among roots: [ReferenceWrite]) -> Int64? {
        let own = row(of: root, among: roots)
        guard let earliest = own.min(by: { $0.isEarlier(than: $1) }), let number = ReferenceKeys.number(root.row.key)
        else { return nil }
        let left = left(among: roots)
        let isBeaten = roots.contains { other in
            guard !own.contains(other), own.contains(where: { $0.isConcurrent(with: other) }),
                !left.contains(where: { $0.contains(other) })
            else { return false }
            let rival = row(of: other, among: roots)
            return !rival.allSatisfy(\.isMinted)
                || rival.min { $0.isEarlier(than: $1) }?.isEarlier(than: earliest) ?? false
        }
        guard left.contains(where: { $0.contains(root) }) || own.allSatisfy(\.isMinted) && isBeaten else {
            return nil
        }
        return ContestedKey.newKey(
            table: root.row.table, key: number, origin: earliest.origin, version: earliest.version)
    }

    /// The key that the row of a claim has.
    private func key(of claim: ReferenceWrite, _ row: ReferenceRowID) -> Int64? {
        guard let claims = claims[row] else { return nil }
        let roots = claims.filter { isRoot($0, among: claims) }
        guard let root = isRoot(claim, among: claims) ? claim : root(seenBy: claim, among: roots) else { return nil }
        return moved(root, among: roots) ?? ReferenceKeys.number(row.key)
    }

    /// The row that the key had on the writer's machine.
    private func root(seenBy write: ReferenceWrite, among roots: [ReferenceWrite]) -> ReferenceWrite? {
        let seen = roots.filter { write.saw($0) }
        return seen.filter { moved($0, among: seen) == nil }.max { $0.isEarlier(than: $1) }
    }

    // MARK: - Changes

    private func interpreted(_ write: ReferenceWrite) -> ReferenceWrite {
        var result = write
        for (name, value) in write.columns {
            result.columns[name] = meaning(of: value, table: write.row.table, column: name, by: write)
        }
        if let number = ReferenceKeys.number(write.row.key), let domain = domain(of: write.row.table, column: 0) {
            let isOwn = write.operation == .insert && domain == write.row.table
            let meant = meaning(of: number, in: domain, by: write, isOwn: isOwn)
            result.row = ReferenceRowID(
                table: write.row.table, key: Key([.integer(meant)]).bytes + write.row.key.dropFirst(9))
            if write.operation == .insert, isOwn {
                result.columns[schema.keyName(of: write.row.table)] = .integer(meant)
            }
        }
        return result
    }

    private func meaning(of value: Value, table: String, column: String, by write: ReferenceWrite) -> Value {
        guard case .integer(let number) = value,
            let index = schema.table(table)?.columns.firstIndex(where: { $0.name == column }),
            let domain = domain(of: table, column: index)
        else { return value }
        return .integer(meaning(of: number, in: domain, by: write, isOwn: false))
    }

    private func meaning(of number: Int64, in domain: String, by write: ReferenceWrite, isOwn: Bool) -> Int64 {
        let row = ReferenceRowID(table: domain, key: Key([.integer(number)]).bytes)
        if let claims = claims[row] {
            if isOwn, claims.contains(write) { return key(of: write, row) ?? number }
            let roots = claims.filter { isRoot($0, among: claims) }
            guard let root = root(seenBy: write, among: roots) else { return number }
            return key(of: root, row) ?? number
        }
        // A key that was given to a row here may be the key of another row now.
        guard let known = claimsByNewKey[row] else { return number }
        return key(of: known.claim, known.row) ?? number
    }

    // MARK: - Domains

    /// The table whose minted keys a column holds.
    private func domain(of table: String, column index: Int) -> String? {
        if domains[table] == nil {
            let count = schema.table(table)?.columns.count ?? 0
            domains[table] = (0..<count).map { findDomain(of: table, column: $0, visited: []) }
        }
        guard let known = domains[table], index < known.count else { return nil }
        return known[index]
    }

    private func findDomain(of table: String, column index: Int, visited: Set<String>) -> String? {
        guard let definition = schema.table(table), index < definition.columns.count else { return nil }
        let name = definition.columns[index].name
        guard !visited.contains("\(table).\(name)") else { return nil }
        for key in definition.foreignKeys {
            guard let place = key.columns.firstIndex(of: name), let parent = schema.table(key.parent),
                let target = parent.columns.firstIndex(where: { $0.name == key.parentColumns[place] }),
                let found = findDomain(of: key.parent, column: target, visited: visited.union(["\(table).\(name)"]))
            else { continue }
            return found
        }
        return index == 0 && definition.keyCount == 1 && definition.mints ? table : nil
    }

    /// The number at the beginning of a key's canonical bytes.
    static func number(_ key: [UInt8]) -> Int64? {
        guard key.count >= 9, key[0] == 1 else { return nil }
        return Int64(bitPattern: key[1..<9].reduce(0) { $0 << 8 | UInt64($1) })
    }
}

extension ReferenceWrite {
    fileprivate func isEarlier(than other: ReferenceWrite) -> Bool { (stamp, origin) < (other.stamp, other.origin) }
}

extension ReferenceSchema {
    fileprivate func keyName(of name: String) -> String { table(name)?.keyColumns.first ?? "" }
}

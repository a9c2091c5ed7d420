import Journal

/// One insert of a contested key, as the decision sees it.
package struct KeyClaim: Sendable {
    /// The stamp of the insert and its writer.
    package let order: WriteOrder
    /// The insert's number among those of its origin, 1 or more.
    package let version: Int64
    /// What the writer had merged.
    package let known: VersionVector
    /// As in `Change.isMinted`.
    package let isMinted: Bool
    /// As in `Change.isCovering`.
    package let isCovering: Bool
    /// The table as all machines call it.
    package let table: String
    /// The values besides the key, by folded column name. A reference is named by the row that its writer
    /// meant.
    package let image: [String: Value]

    package init(
        order: WriteOrder, version: Int64, known: VersionVector, isMinted: Bool, isCovering: Bool = false,
        table: String, image: [String: Value]
    ) {
        self.order = order
        self.version = version
        self.known = known
        self.isMinted = isMinted
        self.isCovering = isCovering
        self.table = table
        self.image = image
    }

    var writer: ChangeWriter { ChangeWriter(origin: order.origin, version: version, known: known) }
}

/// What the writer of a change had seen when it wrote the change.
package struct ChangeWriter: Sendable {
    package let origin: OriginID
    package let version: Int64
    package let known: VersionVector

    package init(origin: OriginID, version: Int64, known: VersionVector) {
        self.origin = origin
        self.version = version
        self.known = known
    }

    /// All that the writer had merged or written before.
    var before: VersionVector {
        var before = VersionVector(known.entries.filter { $0.origin != origin })
        before.advance(origin, to: version - 1)
        return before
    }

    /// True when the writer had merged or written that insert before.
    func saw(_ claim: KeyClaim) -> Bool { saw(claim.writer) }

    /// True when the writer had merged or written the change of `other` before.
    func saw(_ other: ChangeWriter) -> Bool {
        other.origin == origin ? version > other.version : known[other.origin] >= other.version
    }
}

/// A key that several machines gave to a row each, and which row has it.
///
/// It is pure: the result depends only on the set of the inserts. Rules:
/// 1. A minted insert makes a new row. So does an insert with a given key, unless its writer had seen a row
///    under the key: then it goes on with that row.
/// 2. Concurrent inserts that are equal in every column make one row. Concurrent inserts with given keys do
///    as well, because a program that gives the key means the same thing by it.
/// 3. Of concurrent rows, one keeps the key: that of a given key, else the earliest. Each other one gets a
///    key of its own (``newKey(table:key:origin:version:)``).
/// 4. A row that was held on a machine where SQLite chose its key again gets a key of its own, whoever gave
///    it the first one: the programs of that machine have seen the new row only. The rows that had left the
///    key there before stay away from it, although the row that they lost it to is gone.
/// 5. A change means the row that the key had on its writer's machine: the latest that kept the key among the
///    inserts that the writer had seen.
package struct ContestedKey: Sendable {
    package let key: Int64
    /// The earliest first.
    package let claims: [KeyClaim]
    /// The key of each claim's row.
    package private(set) var keys: [Int64]

    /// - Parameter claims: In any order, each once.
    package init(key: Int64, claims: [KeyClaim]) {
        self.key = key
        let claims = claims.sorted { $0.order < $1.order }
        self.claims = claims
        let roots = claims.indices.filter { index in
            claims[index].isMinted || !claims.contains { claims[index].writer.saw($0) }
        }
        var keys = [Int64](repeating: key, count: claims.count)
        for (root, moved) in ContestedKey.moved(roots, claims, key: key) { keys[root] = moved }
        self.keys = keys
        self.roots = roots
        // An insert that goes on with a row has the key of that row.
        for index in claims.indices where !roots.contains(index) {
            if let root = meaning(for: claims[index].writer) { self.keys[index] = keys[root] }
        }
    }

    /// The positions of the claims that make rows; the others go on with one.
    package let roots: [Int]

    /// Returns the position of the claim whose row a change with this key means; nil when its writer had seen
    /// none.
    package func meaning(for writer: ChangeWriter) -> Int? { row(among: roots(seenBy: writer)) }

    /// The positions of the claims that make rows and that the writer had seen.
    func roots(seenBy writer: ChangeWriter) -> [Int] { roots.filter { writer.saw(claims[$0]) } }

    /// Returns the position of the claim that has the key where only the claims at `seen` are known.
    func row(among seen: [Int]) -> Int? {
        if seen.count == roots.count { return seen.last { keys[$0] == key } }
        let moved = ContestedKey.moved(seen, claims, key: key)
        return seen.last { moved[$0] == nil }
    }

    /// The rows among `roots` that do not keep the key, each with its new key.
    private static func moved(_ roots: [Int], _ claims: [KeyClaim], key: Int64) -> [Int: Int64] {
        guard roots.count > 1 else { return [:] }
        // A covering insert saw fewer inserts than there are here, so this ends.
        let left = roots.filter { claims[$0].isCovering }.flatMap { root -> [Int] in
            let seen = roots.filter { $0 != root && claims[root].writer.saw(claims[$0]) }
            let moved = ContestedKey.moved(seen, claims, key: key)
            return seen.filter { moved[$0] != nil } + [seen.last { moved[$0] == nil }].compactMap(\.self)
        }
        // The earliest claim of the row that each root belongs to.
        var rows = Dictionary(uniqueKeysWithValues: roots.map { ($0, $0) })
        func row(_ root: Int) -> Int {
            var root = root
            while let next = rows[root], next != root { root = next }
            return root
        }
        for (place, a) in roots.enumerated() {
            for b in roots[(place + 1)...] where areConcurrent(claims[a], claims[b]) {
                let isOne = !claims[a].isMinted && !claims[b].isMinted || claims[a].image == claims[b].image
                if isOne { rows[max(row(a), row(b))] = min(row(a), row(b)) }
            }
        }
        let given = Set(roots.filter { !claims[$0].isMinted }.map(row))
        let gone = Set(left.map(row))
        func isStronger(_ a: Int, _ b: Int) -> Bool {
            guard given.contains(a) == given.contains(b) else { return given.contains(a) }
            return a < b
        }
        var moved: Set<Int> = []
        for (place, a) in roots.enumerated() {
            for b in roots[(place + 1)...]
            where row(a) != row(b) && areConcurrent(claims[a], claims[b]) && gone.isDisjoint(with: [row(a), row(b)]) {
                moved.insert(isStronger(row(a), row(b)) ? row(b) : row(a))
            }
        }
        moved.subtract(given)
        moved.formUnion(gone)
        return roots.reduce(into: [:]) { result, root in
            guard moved.contains(row(root)) else { return }
            let first = claims[row(root)]
            result[root] = newKey(table: first.table, key: key, origin: first.order.origin, version: first.version)
        }
    }

    package static func areConcurrent(_ a: KeyClaim, _ b: KeyClaim) -> Bool {
        !a.writer.saw(b) && !b.writer.saw(a)
    }

    /// The key of a row that does not keep the key that was chosen for it: a pure function of its first
    /// insert.
    ///
    /// SQLite chooses 1, or one more than the greatest key (https://sqlite.org/autoinc.html), so it does not
    /// choose negative keys in a table that has a positive one. The key is a number that a REAL, and so JSON,
    /// holds exactly.
    ///
    /// - Parameters:
    ///   - table: The table as all machines call it.
    ///   - key: The key that was chosen.
    ///   - origin: The writer of the row's earliest insert.
    ///   - version: The number of that insert among those of `origin`.
    package static func newKey(table: String, key: Int64, origin: OriginID, version: Int64) -> Int64 {
        var bytes = Array(SQLText.foldedName(table).utf8)
        bytes.append(0)
        withUnsafeBytes(of: key.bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: origin.bytes)
        withUnsafeBytes(of: version.bigEndian) { bytes.append(contentsOf: $0) }
        let range: UInt64 = 1 << 52
        return -Int64(range | Checksum.fnv1a(bytes) & (range - 1))
    }
}

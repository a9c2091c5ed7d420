import GRDB
import Journal

/// What keys and references mean: the claims on contested keys.
///
/// It lives as long as the `ApplySession` whose domains it uses.
final class KeyMeanings {
    /// A key of a domain.
    struct Name: Hashable {
        let domain: Int64
        let key: Int64
    }

    /// An insert as its writer wrote it.
    struct Insert {
        fileprivate(set) var claim: MintedClaims.Claim
        let writer: ChangeWriter
        let stamp: Stamp
        /// The life of the key after the insert.
        let life: Int64
        let isMinted: Bool
        let isCovering: Bool
        /// Of the writer's shape, named as this file names the table.
        let shape: ShapeRegistry.Entry
        /// The values by the shape's columns, without the key.
        let columns: [(column: Int, value: Value)]

        var order: WriteOrder { WriteOrder(stamp: stamp, origin: writer.origin) }

        /// The key of the row if this is its first insert and it does not keep ``MintedClaims/Claim/key``.
        var newKey: Int64 {
            ContestedKey.newKey(
                table: shape.wireName, key: claim.key, origin: writer.origin, version: writer.version)
        }
    }

    private let domains: KeyDomains
    private var inserts: [Name: [Insert]] = [:]
    /// The keys whose decision may be another one than the file has.
    private var unsettled: Set<Name> = []
    /// What the writers of all inserts had seen, each when it wrote its insert.
    private var seen = VersionVector()
    /// The domains with contested keys.
    private var claimed: Set<Int64> = []
    /// The keys by the keys that rows of theirs have instead, or may have had while less was known.
    private var origins: [Name: Int64] = [:]
    // What was computed, and does not depend on claims that came since.
    private var contested: [Name: ContestedKey] = [:]
    private var images: [Int64: [String: Value]] = [:]
    /// The rows that a key had, by what of its claims a writer had seen.
    private var seenRows: [Name: [[Int]: Int?]] = [:]

    init(_ db: Database, domains: KeyDomains) throws {
        self.domains = domains
        guard try !MintedClaims.isEmpty(db) else { return }
        let reader = try JournalReader(db)
        let claims = try MintedClaims.all(db)
        let entries = try reader.entries(at: claims.map(\.seq))
        for claim in claims {
            guard let entry = entries[claim.seq], let shape = reader.registry[entry.shapeID] else { continue }
            put(try Insert(claim, entry, shape, reader))
        }
    }

    var isEmpty: Bool { inserts.isEmpty }

    /// True when a key of the domain is contested.
    func has(_ domain: Int64) -> Bool { claimed.contains(domain) }

    /// True when a value is a contested key of the domain, or one that a row got instead: what several keys named
    /// before may be one row.
    func isContested(_ value: Value, in domain: Int64) -> Bool {
        guard claimed.contains(domain), let number = KeyMeanings.number(value) else { return false }
        let name = Name(domain: domain, key: number)
        return inserts[name] != nil || origins[name] != nil
    }

    /// The keys that are contested.
    var names: [Name] { Array(inserts.keys) }

    func inserts(of name: Name) -> [Insert] { inserts[name] ?? [] }

    /// The keys whose decision may be another one than the file has, each once: the caller brings the file up to date.
    func takeUnsettled() -> Set<Name> {
        defer { unsettled = [] }
        return unsettled
    }

    /// The contested keys of which some row may have a key.
    func names(of key: Value, in domain: Int64) -> [Name] {
        guard let number = KeyMeanings.number(key) else { return [] }
        let name = Name(domain: domain, key: number)
        return [name, origins[name].map { Name(domain: domain, key: $0) }].compactMap(\.self)
            .filter { inserts[$0] != nil }
    }

    /// The rows whose inserts may have been written with a key, the one with that key first.
    func rows(of name: Name) -> [TableKey] {
        var keys = Set(inserts(of: name).map(\.newKey) + decided(name).map(\.key))
        // A program may have written the new key of a row that has another one now.
        if let key = origins[name] { keys.formUnion(decided(Name(domain: name.domain, key: key)).map(\.key)) }
        keys.remove(name.key)
        return ([name.key] + keys.sorted()).map { TableKey(table: name.domain, key: Key([.integer($0)])) }
    }

    /// Adds an insert of a contested key.
    func add(_ insert: Insert) {
        let name = put(insert)
        forget(name)
        // Only who had seen the insert can have meant its row, so mostly nobody here has.
        guard seen[insert.writer.origin] >= insert.writer.version else { return }
        (contested, images, seenRows) = ([:], [:], [:])
        unsettled = Set(inserts.keys)
    }

    /// Replaces the claim of an insert that is here. No decision depends on it.
    func update(_ claim: MintedClaims.Claim) {
        let name = Name(domain: claim.table, key: claim.key)
        guard let index = inserts[name]?.firstIndex(where: { $0.claim.seq == claim.seq }) else { return }
        inserts[name]?[index].claim = claim
    }

    @discardableResult
    private func put(_ insert: Insert) -> Name {
        let name = Name(domain: insert.claim.table, key: insert.claim.key)
        claimed.insert(name.domain)
        unsettled.insert(name)
        inserts[name, default: []].append(insert)
        origins[Name(domain: name.domain, key: insert.newKey)] = name.key
        seen.merge(insert.writer.before)
        return name
    }

    private func forget(_ name: Name) {
        contested[name] = nil
        seenRows[name] = nil
    }

    /// The decision about a key; nil when the key is not contested.
    func contested(_ name: Name) -> ContestedKey? {
        guard let inserts = inserts[name] else { return nil }
        if let known = contested[name] { return known }
        let result = ContestedKey(key: name.key, claims: inserts.map(claim))
        contested[name] = result
        return result
    }

    /// The inserts of a key, the earliest first, each with the key of its row.
    ///
    /// `isRoot` is false for an insert that goes on with the row of another one.
    func decided(_ name: Name) -> [(insert: Insert, key: Int64, isRoot: Bool)] {
        guard let contested = contested(name), let inserts = inserts[name] else { return [] }
        return contested.claims.indices.compactMap { index in
            let claim = contested.claims[index]
            let insert = inserts.first {
                $0.writer.origin == claim.order.origin && $0.writer.version == claim.version
            }
            return insert.map { ($0, contested.keys[index], contested.roots.contains(index)) }
        }
    }

    /// Returns what a value means that a writer wrote into a column of a domain.
    ///
    /// - Parameter insert: True for the key of an insert: it may be a claim itself.
    func meaning(of value: Value, in domain: Int64, by writer: ChangeWriter, insert: Bool = false) -> Value {
        guard !inserts.isEmpty, let number = KeyMeanings.number(value) else { return value }
        let name = Name(domain: domain, key: number)
        if let contested = contested(name) {
            let own =
                insert
                ? contested.claims.firstIndex {
                    $0.order.origin == writer.origin && $0.version == writer.version
                } : nil
            guard let claim = own ?? row(of: name, in: contested, seenBy: writer) else { return value }
            return KeyMeanings.value(contested.keys[claim], like: value)
        }
        // A program that saw the new key wrote it.
        guard let key = origins[name], let contested = contested(Name(domain: domain, key: key)) else { return value }
        let row = contested.claims.indices.first {
            let claim = contested.claims[$0]
            return ContestedKey.newKey(
                table: claim.table, key: key, origin: claim.order.origin, version: claim.version) == number
        }
        return row.map { KeyMeanings.value(contested.keys[$0], like: value) } ?? value
    }

    private func row(of name: Name, in contested: ContestedKey, seenBy writer: ChangeWriter) -> Int? {
        let seen = contested.roots(seenBy: writer)
        if let known = seenRows[name]?[seen] { return known }
        let row = contested.row(among: seen)
        seenRows[name, default: [:]][seen] = .some(row)
        return row
    }

    // MARK: - Comparing rows

    private func claim(_ insert: Insert) -> KeyClaim {
        KeyClaim(
            order: insert.order, version: insert.writer.version, known: insert.writer.known,
            isMinted: insert.isMinted, isCovering: insert.isCovering, table: insert.shape.wireName, image: image(insert)
        )
    }

    /// The values of an insert, with a digest of the row that it means in place of each reference.
    ///
    /// It depends on the inserts only that the writer had seen, so it ends, and never changes its answer to
    /// whether two inserts are equal because of a later one.
    private func image(_ insert: Insert) -> [String: Value] {
        if let known = images[insert.claim.seq] { return known }
        let domains = Dictionary(
            uniqueKeysWithValues: domains.columns(of: insert.shape.shape).map { ($0.column, $0.domain) })
        var image: [String: Value] = [:]
        for (column, value) in insert.columns {
            let meant = domains[column].flatMap { row(value, in: $0, seenBy: insert) }
            image[SQLText.foldedName(insert.shape.shape.columns[column])] = meant.map(digest) ?? value
        }
        images[insert.claim.seq] = image
        return image
    }

    /// The insert of the row that a reference of `insert` led to on its writer's machine.
    private func row(_ value: Value, in domain: Int64, seenBy insert: Insert) -> Insert? {
        guard let number = KeyMeanings.number(value) else { return nil }
        let key = origins[Name(domain: domain, key: number)]
        // A writer has seen earlier inserts only. Of a writer that claims otherwise, the others do not count.
        let seen = inserts(of: Name(domain: domain, key: key ?? number)).filter { other in
            other.order < insert.order && insert.writer.saw(other.writer)
        }
        if key != nil { return seen.first { $0.newKey == number } }
        let contested = ContestedKey(key: number, claims: seen.map(claim))
        guard let claim = contested.meaning(for: insert.writer).map({ contested.claims[$0] }) else { return nil }
        return seen.first { $0.order == claim.order }
    }

    private func digest(_ insert: Insert) -> Value {
        var row = RowImage()
        row.columns = image(insert)
        let sum = Checksum.fnv1a(row.encoded())
        return .blob(withUnsafeBytes(of: sum.bigEndian) { Bytes($0) })
    }

    // MARK: - Values

    /// The number of a value that can be a rowid. A TEXT column refers to one by its digits.
    static func number(_ value: Value) -> Int64? {
        switch value {
        case .integer(let number): number
        case .real(let number): Int64(exactly: number)
        case .text(let bytes):
            Int64(String(decoding: bytes, as: UTF8.self)).flatMap {
                Bytes(String($0).utf8) == bytes ? $0 : nil
            }
        case .null, .blob: nil
        }
    }

    static func value(_ number: Int64, like value: Value) -> Value {
        switch value {
        case .text: .text(String(number))
        case .real: .real(Double(number))
        case .integer, .null, .blob: .integer(number)
        }
    }
}

extension KeyMeanings.Insert {
    init(
        _ claim: MintedClaims.Claim, _ entry: JournalEntry, _ shape: ShapeRegistry.Entry, _ reader: JournalReader
    ) throws {
        let keyCount = entry.shape.keyCount
        var columns: [(column: Int, value: Value)] = []
        var next = keyCount
        entry.mask.forEach { column in
            guard column >= keyCount else { return }
            columns.append((column, entry.written[column] ?? entry.values[next]))
            next += 1
        }
        self.init(
            claim: claim, writer: ChangeWriter(entry, own: reader.identity.origin), stamp: entry.stamp,
            life: entry.life, isMinted: entry.isMinted, isCovering: entry.isCovering, shape: shape, columns: columns)
    }
}

extension ChangeWriter {
    init(_ entry: JournalEntry, own: OriginID) {
        self.init(origin: entry.origin ?? own, version: entry.version, known: entry.known)
    }
}

import GRDB
import Journal

/// What keys and references mean: the claims on contested keys, read from the journal when they are first needed.
///
/// It lives for one transaction.
final class KeyMeanings {
    /// A key of a domain.
    struct Name: Hashable {
        let domain: Int64
        let key: Int64
    }

    /// An insert as its writer wrote it.
    struct Insert {
        let claim: MintedClaims.Claim
        let writer: ChangeWriter
        let stamp: Stamp
        let isMinted: Bool
        /// Of the writer's shape, named as this file names the table.
        let shape: ShapeRegistry.Entry
        /// The values by the shape's columns, without the key.
        let columns: [(column: Int, value: Value)]

        /// The key of the row if this is its first insert and it does not keep ``MintedClaims/Claim/key``.
        var newKey: Int64 {
            ContestedKey.newKey(
                table: shape.wireName, key: claim.key, origin: writer.origin, version: writer.version)
        }
    }

    private let db: Database
    private let domains: KeyDomains
    private var inserts: [Name: [Insert]] = [:]
    /// The keys by the keys that rows of theirs have instead, or may have had while less was known.
    private var origins: [Name: Int64] = [:]
    /// The results; nil while one is made.
    private var contested: [Name: ContestedKey?] = [:]

    init(_ db: Database, domains: KeyDomains) throws {
        self.db = db
        self.domains = domains
        guard try !MintedClaims.isEmpty(db) else { return }
        let reader = try JournalReader(db)
        let claims = try MintedClaims.all(db)
        let entries = try reader.entries(at: claims.map(\.seq))
        for claim in claims {
            guard let entry = entries[claim.seq], let shape = reader.registry[entry.shapeID] else { continue }
            add(try Insert(claim, entry, shape, reader))
        }
    }

    var isEmpty: Bool { inserts.isEmpty }

    /// The keys that are contested.
    var names: [Name] { Array(inserts.keys) }

    func inserts(of name: Name) -> [Insert] { inserts[name] ?? [] }

    func add(_ insert: Insert) {
        let name = Name(domain: insert.claim.table, key: insert.claim.key)
        inserts[name, default: []].removeAll { $0.claim.seq == insert.claim.seq }
        inserts[name, default: []].append(insert)
        // References of other inserts may have got another meaning.
        contested = [:]
        origins[Name(domain: name.domain, key: insert.newKey)] = name.key
    }

    /// The decision about a key; nil when the key is not contested.
    func contested(_ name: Name) -> ContestedKey? {
        guard let inserts = inserts[name] else { return nil }
        if let known = contested[name] { return known }
        // A row that refers to itself through others is compared by what its writer wrote.
        contested[name] = .some(nil)
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
            let own = insert
                ? contested.claims.firstIndex {
                    $0.order.origin == writer.origin && $0.version == writer.version
                } : nil
            guard let claim = own ?? contested.meaning(for: writer) else { return value }
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

    private func claim(_ insert: Insert) -> KeyClaim {
        let domains = Dictionary(
            uniqueKeysWithValues: domains.columns(of: insert.shape.shape).map { ($0.column, $0.domain) })
        var image: [String: Value] = [:]
        for (column, value) in insert.columns {
            image[SQLText.foldedName(insert.shape.shape.columns[column])] =
                domains[column].map { meaning(of: value, in: $0, by: insert.writer) } ?? value
        }
        return KeyClaim(
            order: WriteOrder(stamp: insert.stamp, origin: insert.writer.origin), version: insert.writer.version,
            known: insert.writer.known, isMinted: insert.isMinted, table: insert.shape.wireName, image: image)
    }

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

    private static func value(_ number: Int64, like value: Value) -> Value {
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
        let written = try reader.written?.values(at: entry.seq) ?? [:]
        var columns: [(column: Int, value: Value)] = []
        var next = keyCount
        entry.mask.forEach { column in
            guard column >= keyCount else { return }
            columns.append((column, written[column] ?? entry.values[next]))
            next += 1
        }
        self.init(
            claim: claim, writer: ChangeWriter(entry, own: reader.identity.origin), stamp: entry.stamp,
            isMinted: entry.isMinted, shape: shape, columns: columns)
    }
}

extension ChangeWriter {
    init(_ entry: JournalEntry, own: OriginID) {
        self.init(origin: entry.origin ?? own, version: entry.version, known: entry.known)
    }
}

import GRDB
import Journal

/// The lives of keys during one transaction. They are written to `_journal_lives` at its end.
final class LifeCache {
    private let db: Database
    private let reader: LifeReader
    private var raised: [TableKey: Int64] = [:]

    init(_ db: Database) throws {
        self.db = db
        reader = try LifeReader(db)
    }

    /// The life of a key; 1 for one that was never deleted.
    func life(of key: TableKey) throws -> Int64 { try raised[key] ?? reader.life(table: key.table, key: key.key) }

    /// Raises the life of a key.
    ///
    /// - Returns: True when `life` is greater than the life that the key had.
    func raise(_ key: TableKey, to life: Int64) throws -> Bool {
        guard try life > self.life(of: key) else { return false }
        raised[key] = life
        return true
    }

    /// Takes over the lives of keys that have other changes than before.
    func set(_ lives: [TableKey: Int64]) { raised.merge(lives) { $1 } }

    func write() throws {
        try Lives.raise(
            raised.sorted { $0.key < $1.key }.map { .init(table: $0.key.table, key: $0.key.key, life: $0.value) }, db)
    }
}

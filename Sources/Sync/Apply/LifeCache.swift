import GRDB
import Journal

/// The lives of keys during one transaction, written to `_journal_lives` at its end.
final class LifeCache {
    private let db: Database
    private let reader: LifeReader
    private var raised: [ConcurrentChanges.TableKey: Int64] = [:]

    init(_ db: Database) throws {
        self.db = db
        reader = try LifeReader(db)
    }

    /// - Returns: True when `life` is greater than what the key had before.
    func raise(_ key: ConcurrentChanges.TableKey, to life: Int64) throws -> Bool {
        let current = try raised[key] ?? reader.life(table: key.table, key: key.key)
        guard life > current else { return false }
        raised[key] = life
        return true
    }

    func write() throws {
        try Lives.raise(
            raised.sorted { $0.key < $1.key }.map { .init(table: $0.key.table, key: $0.key.key, life: $0.value) }, db)
    }
}

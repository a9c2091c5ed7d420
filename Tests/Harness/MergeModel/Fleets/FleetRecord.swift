/// What users wrote in a fleet, where, and what the users and machines that replaced it had seen.
///
/// Each value that a user writes is unique and begins with `user`.
struct FleetRecord {
    /// A place that no migration moves: a row of a table, and the name of its column after all migrations.
    struct Cell: Hashable {
        let table: String
        let id: Int
        let column: String
    }

    /// A value in a table that migrations treat as a whole; see ``FleetTable``.
    struct Writing {
        let value: String
        /// The table's name on the machine of its writer.
        let table: String
        /// The key that its program gave; nil for a key that SQLite chose.
        let id: Int?
        let isInsert: Bool
        let rotation: Rotation
    }

    /// What the machine of a writer knew of ``FleetMigration/rotation``.
    enum Rotation {
        case unknown
        /// Another machine had run it, and this one not.
        case received
        case done
    }

    /// The values of cells that stay where they are, oldest first.
    private(set) var written: [Cell: [String]] = [:]
    private(set) var writings: [Writing] = []
    /// What the writer of each value saw in its place.
    private(set) var seen: [String: String] = [:]
    /// What users wrote and each machine has received.
    private(set) var received: [Set<String>]
    /// The same when each machine ran each migration.
    private(set) var receivedBefore: [[Set<String>]]
    /// Rows that a user deleted; their column is empty.
    private(set) var deleted: Set<Cell> = []
    /// For each table, the values that users deleted with their rows, on machines that had received them.
    private(set) var removed: [String: Set<String>] = [:]
    /// The values that were dropped with a table by a machine that had received them.
    private(set) var dropped: Set<String> = []
    /// The keys of rows that were dropped with a table.
    private(set) var droppedRows: Set<Int> = []
    /// The values that were written to copies of rows in an excluded table.
    private(set) var stale: Set<String> = []

    init(machines: Int) {
        received = Array(repeating: [], count: machines)
        receivedBefore = Array(repeating: [], count: machines)
    }

    /// True when the machine knows that a machine ran the migration.
    func knows(_ migration: FleetMigration, on machine: Int) -> Bool {
        received.indices.contains { received[machine].contains(FleetRecord.mark(migration, $0)) }
    }

    // MARK: - What users did

    /// - Parameter shown: What the writer saw in the place of `value`.
    mutating func note(_ value: String, replacing shown: String?, on machine: Int) {
        received[machine].insert(value)
        seen[value] = shown
    }

    mutating func write(_ value: String, _ cell: Cell) { written[cell, default: []].append(value) }

    mutating func write(_ writing: Writing) { writings.append(writing) }

    mutating func writeStale(_ value: String) { stale.insert(value) }

    /// - Parameter values: What the row showed. What the machine has received for a column that it lacks goes with it.
    mutating func delete(_ cell: Cell, showing values: [String], on machine: Int) {
        deleted.insert(cell)
        let hidden = writings.filter {
            $0.table == cell.table && $0.id == cell.id && received[machine].contains($0.value)
        }
        removed[cell.table, default: []].formUnion(values + hidden.map(\.value))
    }

    // MARK: - What machines did

    mutating func pull(_ target: Int, from source: Int) { received[target].formUnion(received[source]) }

    /// Notes that all machines know the same.
    mutating func converge() {
        let all = received.reduce(into: Set()) { $0.formUnion($1) }
        received = received.map { _ in all }
    }

    /// Notes that a machine begins a migration.
    mutating func begin(_ migration: FleetMigration, on machine: Int) {
        receivedBefore[machine].append(received[machine])
        received[machine].insert(FleetRecord.mark(migration, machine))
    }

    /// Notes that a machine has dropped ``FleetTable/cache`` and made it again. It has lost the rows that it
    /// had, except for those that others changed while it was gone.
    mutating func drop(on machine: Int) {
        guard let before = receivedBefore[machine].last else { return }
        let news = received[machine].subtracting(before)
        let rows = writings.filter { $0.table == FleetTable.cache.rawValue }
        let changed = Set(rows.filter { news.contains($0.value) }.compactMap(\.id))
        let had = rows.filter { before.contains($0.value) }
        dropped.formUnion(had.map(\.value))
        droppedRows.formUnion(Set(had.filter(\.isInsert).compactMap(\.id) + [1, 2, 3, 4]).subtracting(changed))
    }

    /// Stands in ``received`` for what a machine's migration wrote.
    static func mark(_ migration: FleetMigration, _ machine: Int) -> String { "\(migration) on \(machine)" }
}

import GRDB
import Journal

/// The tables of one side of a comparison, by name.
struct ComparedTables: Sendable {
    let shapes: [TableShape]

    /// For each of ``shapes``, a raw value of ``Affinity`` for each column; empty for a peer that does not
    /// send them.
    let affinities: [[UInt8]]

    /// The tracked tables under the names that all machines know, without tables into which this replica
    /// cannot merge anything.
    init(_ db: Database) throws {
        let entries = try ShapeRegistry(db).entries.values.filter { $0.isTracked && $0.shownColumns != [] }
            .sorted { $0.wireShape.table.utf8.lexicographicallyPrecedes($1.wireShape.table.utf8) }
        shapes = entries.map(\.wireShape)
        affinities = try entries.map { entry in
            let table = try TableInspection.named(entry.shape.table, db)
            let types = Dictionary(
                (table?.stored ?? []).map {
                    (SQLText.foldedName($0.name), Affinity($0, isStrict: table?.isStrict ?? false))
                }, uniquingKeysWith: { first, _ in first })
            return entry.shape.columns.map { (types[SQLText.foldedName($0)] ?? .none).rawValue }
        }
    }

    init(_ reply: DigestReply) {
        shapes = reply.tables
        affinities = reply.affinities
    }
}

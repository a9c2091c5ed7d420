import GRDB
import Journal
import Sync

/// What `syncd clone` made.
struct CloneReport: Sendable {
    let result: Clone.Report
    /// Tables that replicate.
    let tables: Int
    /// The rows of these tables.
    let rows: Int64
    /// The tables of a leaf; nil for a replica that has all.
    let leaf: TableScope?

    init(_ result: Clone.Report, _ replica: Replica) throws {
        self.result = result
        (tables, rows, leaf) = try replica.read { db in
            let names = try ShapeRegistry(db).entries.values.filter(\.isTracked).map(\.shape.table)
            let counts = try names.map { name in
                try Int64.fetchOne(db, sql: "SELECT count(*) FROM \(SQLText.quote(identifier: name))") ?? 0
            }
            return (names.count, counts.reduce(0, +), try Identity(db).leaf?.scope)
        }
    }

    func lines(path: String) -> [String] {
        [
            "\(ConsoleText.printable(path)) is replica \(result.identity.new) of cluster "
                + "\(ConsoleText.printable(result.cluster)): \(ConsoleText.count(tables, "table")), "
                + "\(ConsoleText.count(rows, "row")).",
            "\(ConsoleText.count(result.bytes, "byte")), of which \(ConsoleText.number(result.fetchedBytes)) were fetched, "
                + "in \(ConsoleText.number(result.milliseconds)) ms.",
        ]
            + (leaf.map {
                [
                    "It is a leaf: the token is limited to \(ConsoleText.printable($0.list)). It sends what it writes, and "
                        + "nobody can get changes or copies from it."
                ]
            } ?? [])
    }

    var json: JSONValue {
        .object([
            "origin": .string(result.identity.new.description),
            "cluster": .string(result.cluster),
            "peer_origin": .string(result.identity.old.description),
            "vector": .vector(result.vector),
            "tables": .integer(Int64(tables)),
            "rows": .integer(rows),
            "leaf": .optional(leaf) { .array($0.tables.map { .string($0) }) },
            "bytes": .integer(result.bytes),
            "fetched_bytes": .integer(result.fetchedBytes),
            "milliseconds": .integer(result.milliseconds),
        ])
    }
}

import Journal

/// The pairs of tables that are compared with each other, and by which columns.
struct TablePairs {
    struct Pair {
        let name: String

        /// Key columns in key order, then the columns that both sides have, by name; nil when there is
        /// nothing to compare.
        var shape: TableShape?
        var unmatchedColumns: [String] = []
        /// Columns that the two sides store differently, such as text here and a number there for the same
        /// value. They are not compared.
        var retypedColumns: [String] = []
        var problem: String?
    }

    private(set) var pairs: [Pair] = []

    init(here: ComparedTables, there: ComparedTables) {
        let theirs = Dictionary(
            there.shapes.indices.map { (TablePairs.folded(there.shapes[$0].table), $0) },
            uniquingKeysWith: { first, _ in first })
        for (index, own) in here.shapes.enumerated() {
            var pair = Pair(name: own.table)
            if let other = theirs[TablePairs.folded(own.table)] {
                pair.match(own, there.shapes[other], retyped: here.retyped(index, there, other))
            } else {
                pair.problem = "the peer has no such tracked table"
            }
            pairs.append(pair)
        }
        let known = Set(here.shapes.map { TablePairs.folded($0.table) })
        for other in there.shapes where !known.contains(TablePairs.folded(other.table)) {
            var pair = Pair(name: other.table)
            pair.problem = "only the peer has such a tracked table"
            pairs.append(pair)
        }
    }

    /// A name folded as SQLite compares names, in bytes: String treats two Unicode normal forms of one name
    /// as equal.
    fileprivate static func folded(_ name: String) -> [UInt8] { Array(SQLText.foldedName(name).utf8) }
}

extension TablePairs.Pair {
    /// - Parameter retyped: The folded names of the columns that the two sides store differently.
    fileprivate mutating func match(_ own: TableShape, _ other: TableShape, retyped: Set<[UInt8]>) {
        let keys = own.keyColumns.map(TablePairs.folded)
        guard keys == other.keyColumns.map(TablePairs.folded) else {
            problem = "the peer's table has another primary key"
            return
        }
        let theirs = Set(other.columns.map(TablePairs.folded))
        let ours = Set(own.columns.map(TablePairs.folded))
        unmatchedColumns =
            own.columns.filter { !theirs.contains(TablePairs.folded($0)) }
            + other.columns.filter { !ours.contains(TablePairs.folded($0)) }
        retypedColumns = own.valueColumns.filter { retyped.contains(TablePairs.folded($0)) }
        let shared = own.valueColumns.filter { theirs.contains(TablePairs.folded($0)) }
            .filter { !retyped.contains(TablePairs.folded($0)) }
            .sorted { TablePairs.folded($0).lexicographicallyPrecedes(TablePairs.folded($1)) }
        shape = TableShape(table: own.table, columns: own.keyColumns + shared, keyCount: own.keyCount)
    }
}

extension ComparedTables {
    /// The folded names of the columns of one table that `other`'s table stores differently.
    fileprivate func retyped(_ table: Int, _ other: ComparedTables, _ otherTable: Int) -> Set<[UInt8]> {
        let theirs = other.types(otherTable)
        return Set(types(table).filter { name, type in theirs[name].map { $0 != type } ?? false }.keys)
    }

    private func types(_ table: Int) -> [[UInt8]: UInt8] {
        guard affinities.indices.contains(table) else { return [:] }
        return Dictionary(
            zip(shapes[table].columns.map(TablePairs.folded), affinities[table]),
            uniquingKeysWith: { first, _ in first })
    }
}

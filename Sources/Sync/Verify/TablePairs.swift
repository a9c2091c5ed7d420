import Journal

/// Which table here is compared with which there, and by which columns.
struct TablePairs {
    struct Pair {
        let name: String

        /// Key columns in key order, then the columns that both sides have, by name; nil when there is nothing to compare.
        var shape: TableShape?
        var unmatchedColumns: [String] = []
        var problem: String?
    }

    private(set) var pairs: [Pair] = []

    /// - Parameters: Each side's tables, each ordered by name.
    init(here: [TableShape], there: [TableShape]) {
        let theirs = Dictionary(
            there.map { (TablePairs.folded($0.table), $0) }, uniquingKeysWith: { first, _ in first })
        for own in here {
            var pair = Pair(name: own.table)
            if let other = theirs[TablePairs.folded(own.table)] {
                pair.match(own, other)
            } else {
                pair.problem = "the peer has no such tracked table"
            }
            pairs.append(pair)
        }
        let known = Set(here.map { TablePairs.folded($0.table) })
        for other in there where !known.contains(TablePairs.folded(other.table)) {
            var pair = Pair(name: other.table)
            pair.problem = "only the peer has such a tracked table"
            pairs.append(pair)
        }
    }

    /// As SQLite compares names, and as bytes: String would take two normal forms of one name for the same.
    fileprivate static func folded(_ name: String) -> [UInt8] { Array(SQLText.foldedName(name).utf8) }
}

extension TablePairs.Pair {
    fileprivate mutating func match(_ own: TableShape, _ other: TableShape) {
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
        let shared = own.valueColumns.filter { theirs.contains(TablePairs.folded($0)) }
            .sorted { TablePairs.folded($0).lexicographicallyPrecedes(TablePairs.folded($1)) }
        shape = TableShape(table: own.table, columns: own.keyColumns + shared, keyCount: own.keyCount)
    }
}

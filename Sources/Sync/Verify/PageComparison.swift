import Journal

/// Compares one page of the peer's rows with the rows here of the same range, value by value.
struct PageComparison {
    private let shape: TableShape
    private let rows: TableRows
    private let limits: Limits

    /// The peer's rows that no row here has matched yet, in key order, and their positions by key.
    private var theirs: [[Value]?]
    private var positions: [Key: Int] = [:]

    init(shape: TableShape, theirs: [[Value]], rows: TableRows, limits: Limits) {
        self.shape = shape
        self.rows = rows
        self.limits = limits
        self.theirs = theirs
        for (index, row) in theirs.enumerated() { positions[key(of: row)] = index }
    }

    mutating func run(after: [Value]?, through: [Value]?, into table: inout VerifyReport.Table) throws {
        try rows.forEach(after: after, through: through) { row in
            compare(row, into: &table)
            return true
        }
        for row in theirs {
            guard let row else { continue }
            table.onlyThere += 1
            list(row, .onlyThere, theirs: row, in: &table)
        }
    }

    private mutating func compare(_ ours: [Value], into table: inout VerifyReport.Table) {
        guard let position = positions[key(of: ours)], let row = theirs[position] else {
            table.onlyHere += 1
            list(ours, .onlyHere, in: &table)
            return
        }
        theirs[position] = nil
        let columns = shape.columns.indices.filter { ours[$0] != row[$0] }.map { shape.columns[$0] }
        guard !columns.isEmpty else { return }
        table.differing += 1
        list(ours, .differs(columns), in: &table)
    }

    private func key(of row: [Value]) -> Key { Key(row.prefix(shape.keyCount), collations: rows.collations) }

    private func list(
        _ row: [Value], _ kind: VerifyReport.Difference.Kind, theirs: [Value]? = nil, in table: inout VerifyReport.Table
    ) {
        guard table.differences.count < limits.listedDifferences else { return }
        var difference = VerifyReport.Difference(
            key: zip(shape.keyColumns, row).map { (column: $0, value: $1) }, kind: kind)
        if let theirs, table.keptBytes < limits.keptRowBytes {
            difference.theirs = zip(shape.columns, theirs).map { (column: $0, value: $1) }
            table.keptBytes += theirs.reduce(0) { $0 + $1.weight }
        }
        table.differences.append(difference)
    }
}

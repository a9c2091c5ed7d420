import Journal
import MergeModel
import SimulatedDisk
import TestSupport

/// A value of a row with a bit flipped on the medium, which neither SQLite nor a constraint can detect.
///
/// Other bits have no promise: in the journal they are other changes, and in the structure of a page SQLite
/// reports errors or returns wrong answers.
struct RottenValue {
    let table: String
    let column: String
    /// The position of the byte in the database file.
    let offset: Int64
    let bit: Int
    /// The statement that restores the value.
    let remedy: String

    /// Looks for such a bit on copies of a disk.
    ///
    /// - Parameters:
    ///   - tables: The tables to look in.
    ///   - disk: A disk whose log is empty.
    /// - Returns: nil when there is none.
    static func find(
        in tables: [ReferenceTable], on disk: SimulatedDisk, _ random: inout SplitMix
    ) throws -> RottenValue? {
        let pages = try look(at: disk.copy()) { connection in try tables.compactMap { try Page(of: $0, connection) } }
        guard !pages.isEmpty else { return nil }
        for _ in 0..<150 {
            let page = random.pick(pages)
            let offset = page.end - 1 - Int64(random.below(page.span))
            let bit = random.below(8)
            let copy = disk.copy()
            copy.flipBit(of: ReplicaFiles.database, at: offset, bit: bit)
            // SQLite may refuse to read.
            guard let place = try? look(at: copy, page.onlyDifference) else { continue }
            return RottenValue(
                table: page.table.name, column: page.table.columns[place.column].name, offset: offset, bit: bit,
                remedy: page.remedy(row: place.row, column: place.column))
        }
        return nil
    }

    private static func look<T>(at disk: SimulatedDisk, _ body: (RawConnection) throws -> T) throws -> T {
        try withExtendedLifetime(disk) { try body(RawConnection(path: disk.path(ReplicaFiles.database))) }
    }

    /// The first page of a table. It has all rows of a small table, the last written ones first.
    private struct Page {
        let table: ReferenceTable
        /// Columns without a constraint.
        let plain: Set<String>
        /// All rows of the table.
        let rows: [[Value]]
        /// The position behind its last byte, in the file.
        let end: Int64
        /// The number of bytes before the end to look at.
        let span: Int

        /// nil for a table without rows, or without a column that has no constraint.
        init?(of table: ReferenceTable, _ connection: RawConnection) throws {
            self.table = table
            plain = Page.plainColumns(of: table)
            rows = try Page.rows(of: table, connection)
            let root = "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = '\(table.name)'"
            guard !plain.isEmpty, !rows.isEmpty,
                case .integer(let number)? = try connection.rows(root).first?.first,
                case .integer(let size)? = try connection.rows("PRAGMA page_size").first?.first
            else { return nil }
            end = number * size
            span = min(Int(size), rows.count * 24)
        }

        private static func plainColumns(of table: ReferenceTable) -> Set<String> {
            var names = Set(table.columns.dropFirst(table.keyCount).map(\.name)).subtracting(table.claimColumns)
            for key in table.foreignKeys { names.subtract(key.columns) }
            for check in table.checks {
                switch check {
                case .differ(let a, let b): names.subtract([a, b])
                case .atMost(let column, _): names.remove(column)
                }
            }
            return names
        }

        private static func rows(of table: ReferenceTable, _ connection: RawConnection) throws -> [[Value]] {
            try connection.rows("SELECT \(table.columns.map(\.name).joined(separator: ", ")) FROM \(table.name)")
        }

        /// - Returns: The one value that differs; nil when more than one value differs, or something else is
        ///   wrong.
        func onlyDifference(_ connection: RawConnection) throws -> (row: Int, column: Int)? {
            let now = try Page.rows(of: table, connection)
            guard now.count == rows.count else { return nil }
            let places = rows.indices.flatMap { row in
                table.columns.indices.filter { rows[row][$0] != now[row][$0] }.map { (row: row, column: $0) }
            }
            guard places.count == 1, let place = places.first, plain.contains(table.columns[place.column].name),
                try connection.rows("PRAGMA integrity_check") == [[.text("ok")]]
            else { return nil }
            return place
        }

        func remedy(row: Int, column: Int) -> String {
            let key = (0..<table.keyCount).map { "\(table.columns[$0].name) = \(literal(rows[row][$0]))" }
            return """
                UPDATE \(table.name) SET \(table.columns[column].name) = \(literal(rows[row][column])) \
                WHERE \(key.joined(separator: " AND "))
                """
        }

        private func literal(_ value: Value) -> String {
            switch value {
            case .null: "NULL"
            case .integer(let number): "\(number)"
            case .real(let number): "\(number)"
            case .text(let bytes): "CAST(x'\(hex(bytes))' AS TEXT)"
            case .blob(let bytes): "x'\(hex(bytes))'"
            }
        }

        private func hex(_ bytes: some Sequence<UInt8>) -> String {
            bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }
}

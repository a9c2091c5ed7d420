/// The progress of a comparison.
public struct VerifyProgress: Sendable, Hashable {
    /// The table that is being compared.
    public private(set) var table = ""

    /// The position of the table, from 1.
    public private(set) var number = 0
    /// The number of tables.
    public let tables: Int

    /// Rows here that were compared so far, in all tables.
    public internal(set) var rows = 0

    init(tables: Int) { self.tables = tables }

    mutating func enter(_ table: String) {
        self.table = table
        number += 1
    }

    /// - Parameter more: Rows of the current table, which ``rows`` does not count yet.
    func adding(rowsOfTable more: Int) -> VerifyProgress {
        var progress = self
        progress.rows += more
        return progress
    }
}

/// How far a comparison is.
public struct VerifyProgress: Sendable, Hashable {
    /// The table that is compared now.
    public private(set) var table = ""

    /// Its place among the tables, from 1 on.
    public private(set) var number = 0
    /// How many tables there are.
    public let tables: Int

    /// Rows here that were compared so far, of all tables.
    public internal(set) var rows = 0

    init(tables: Int) { self.tables = tables }

    mutating func enter(_ table: String) {
        self.table = table
        number += 1
    }

    /// - Parameter more: Rows of the table at hand, which ``rows`` does not count yet.
    func adding(rowsOfTable more: Int) -> VerifyProgress {
        var progress = self
        progress.rows += more
        return progress
    }
}

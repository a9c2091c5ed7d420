import Journal
import MergeModel

/// The table `register`: every transaction overwrites one of its few rows with its own number. The value on a
/// machine shows whose write won there, and what that writer saw.
enum RegisterTable {
    static let name = "register"
    static let sql = "CREATE TABLE register (id INTEGER NOT NULL PRIMARY KEY, txn INTEGER NOT NULL)"

    static let reference = ReferenceTable(
        name: name, columns: ["id", "txn"].map { ReferenceColumn(name: $0, isNotNull: true) })

    private static let count = 3

    /// The row that transaction `txn` overwrites.
    static func register(of txn: Int) -> Int { txn % count }

    /// - Returns: The statement that overwrites the register, unless the disk refused the transaction's
    ///   tokens.
    static func write(txn: Int) -> String {
        """
        INSERT INTO register SELECT \(register(of: txn)), \(txn) WHERE EXISTS (SELECT 1 FROM token WHERE txn = \(txn)) \
        ON CONFLICT (id) DO UPDATE SET txn = excluded.txn
        """
    }

    /// - Returns: For each register, the transaction whose write it shows.
    static func values(_ machine: SimulatedMachine) throws -> [Int: Int] {
        var values: [Int: Int] = [:]
        for row in try machine.rows("SELECT id, txn FROM register") {
            if case .integer(let id) = row[0], case .integer(let txn) = row[1] { values[Int(id)] = Int(txn) }
        }
        return values
    }

    /// - Returns: The first and the last stamp of each transaction's write of its register. A return writes again what
    ///   others had not seen, with a later stamp.
    static func stamps(_ writes: some Sequence<ReferenceWrite>) -> [Int: ClosedRange<Stamp>] {
        var stamps: [Int: ClosedRange<Stamp>] = [:]
        for write in writes where write.row.table == name {
            guard case .integer(let txn)? = write.columns["txn"] else { continue }
            let known = stamps[Int(txn)]
            stamps[Int(txn)] =
                min(known?.lowerBound ?? write.stamp, write.stamp)...max(known?.upperBound ?? write.stamp, write.stamp)
        }
        return stamps
    }
}

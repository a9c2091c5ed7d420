/// What random histories may contain.
public struct HistoryKnobs: Sendable {
    var uniques: Bool
    var foreignKeys: Bool
    /// SET NULL and SET DEFAULT among the foreign keys.
    var softKeys: Bool
    var checks: Bool
    /// Replicas that add columns and tables at different times.
    var schemaSteps: Bool
    /// Batches of one exchange arrive in another order, by origin in order.
    var reordering: Bool
    /// Keys that differ in their spelling alone, and are one row.
    var keySpellings: Bool
    /// Writers without recursive triggers, whose evictions are found later.
    var lateEvictions: Bool

    public static let all = HistoryKnobs(named: "all")

    /// - Parameter names: `all`, or the names of properties that are true, with commas between them.
    public init(named names: String) {
        let named = Set(names.split(separator: ",").map(String.init))
        func holds(_ name: String) -> Bool { names == "all" || named.contains(name) }
        uniques = holds("uniques")
        foreignKeys = holds("foreignKeys")
        softKeys = holds("softKeys")
        checks = holds("checks")
        schemaSteps = holds("schemaSteps")
        reordering = holds("reordering")
        keySpellings = holds("keySpellings")
        lateEvictions = holds("lateEvictions")
    }
}

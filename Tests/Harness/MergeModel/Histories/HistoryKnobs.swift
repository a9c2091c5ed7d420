/// The features that random histories may use.
package struct HistoryKnobs: Sendable {
    var uniques: Bool
    var foreignKeys: Bool
    /// SET NULL and SET DEFAULT for foreign keys.
    var softKeys: Bool
    var checks: Bool
    /// Replicas add columns and tables at different times.
    var schemaSteps: Bool
    /// Batches of one exchange arrive in another order; those of each origin stay in order.
    var reordering: Bool
    /// Keys of one row differ in their spelling.
    var keySpellings: Bool
    /// Some writers have no recursive triggers, so their evictions are found later.
    var lateEvictions: Bool
    /// Replicas compact their journals at different times.
    var compaction: Bool
    /// Programs write past capture, and rows are compared with the journal.
    var recapture: Bool
    /// Programs run migrations that they name, and say so.
    var migrations: Bool

    package static let all = HistoryKnobs(named: "all")

    /// - Parameter names: `all`, or the names of the properties that are true, separated by commas.
    package init(named names: String) {
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
        compaction = holds("compaction")
        recapture = holds("recapture")
        migrations = holds("migrations")
    }
}

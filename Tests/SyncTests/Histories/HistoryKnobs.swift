import Foundation

/// What random histories may contain.
struct HistoryKnobs: Sendable {
    var uniques = true
    var foreignKeys = true
    /// SET NULL and SET DEFAULT among the foreign keys.
    var softKeys = true
    var checks = true
    /// Replicas that add columns and tables at different times.
    var schemaSteps = true
    /// Batches of one exchange arrive in another order, by origin in order.
    var reordering = true
    /// Keys that differ in their spelling alone, and are one row.
    var keySpellings = true
    /// Writers without recursive triggers, whose evictions are found later.
    var lateEvictions = true

    /// What the engine is held to.
    static let engine = HistoryKnobs(named: ProcessInfo.processInfo.environment["TANDEM_KNOBS"] ?? "standard")

    /// - Parameter names: TANDEM_KNOBS: the parts that histories contain, as `uniques,softKeys`; `all` of them, or `standard` for all
    ///   that the engine is held to.
    init(named names: String) {
        guard names != "all" else { return }
        let parts = names == "standard" ? HistoryKnobs.held : Set(names.split(separator: ",").map(String.init))
        uniques = parts.contains("uniques")
        foreignKeys = parts.contains("foreignKeys")
        softKeys = parts.contains("softKeys")
        checks = parts.contains("checks")
        schemaSteps = parts.contains("schemaSteps")
        reordering = parts.contains("reordering")
        keySpellings = parts.contains("keySpellings")
        lateEvictions = parts.contains("lateEvictions")
    }

    private static let held: Set = ["reordering", "lateEvictions"]
}

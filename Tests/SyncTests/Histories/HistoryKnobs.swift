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

    /// What the engine is held to. TANDEM_KNOBS=all turns on everything that histories can contain.
    static let engine =
        ProcessInfo.processInfo.environment["TANDEM_KNOBS"] == "all"
        ? HistoryKnobs()
        : HistoryKnobs(
            uniques: false, foreignKeys: false, softKeys: false, checks: false, schemaSteps: false, keySpellings: false)
}

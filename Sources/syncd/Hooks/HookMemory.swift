/// Decides what is news for a hook. Pure.
///
/// Each kind has the situation about which its hook was told last. It moves on only when the hook is told, so
/// what happens while a hook runs is one piece of news for its next run.
struct HookMemory: Sendable {
    private var told: [HookKind: HookSituation]

    /// - Parameter start: What there was before: no news.
    init(_ start: HookSituation) {
        told = Dictionary(uniqueKeysWithValues: HookKind.allCases.map { ($0, start) })
    }

    /// The newest conflict that the hook knows.
    var newestConflict: Int64 { told[.conflict]?.newestConflict ?? 0 }

    /// Whether the hook has to be told. If it has, and also when there is less to tell than before, the memory
    /// moves on.
    ///
    /// - Parameter now: The situation of this moment.
    mutating func isNews(_ kind: HookKind, _ now: HookSituation) -> Bool {
        let before = told[kind] ?? now
        switch kind {
        case .conflict:
            guard now.newestConflict > before.newestConflict else { return false }
        case .held:
            guard now.held > before.held else {
                told[kind] = now
                return false
            }
        case .mismatch:
            guard now.mismatches != before.mismatches else { return false }
        }
        told[kind] = now
        return kind != .mismatch || !now.mismatches.isEmpty
    }
}

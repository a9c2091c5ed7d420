/// One archive that machines of a scenario share.
struct ArchivePlan: Sendable {
    /// The machines that follow it.
    var members: Set<Int>
    /// How far the store's clock is ahead of the right time, in milliseconds.
    var clockOffset: Int64
    /// False for a store that replaces an object when it is created again.
    var createsOnce: Bool
}

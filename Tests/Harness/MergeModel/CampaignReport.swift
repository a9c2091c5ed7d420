/// What a run over many seeds found.
public struct CampaignReport: Sendable {
    /// Counts in one line.
    public let summary: String
    /// Each with what differs, the shortest story that was found, and a command that repeats it.
    public let failures: [String]
    /// True when every seed ran to its end; false also when the run stopped after some failures.
    public let isComplete: Bool
}

/// The findings of a run over many seeds.
package struct CampaignReport: Sendable {
    /// The counts in one line.
    package let summary: String
    /// One text for each failure: the difference, the shortest history that shows it, and a command that
    /// repeats it.
    package let failures: [String]
    /// True when every seed ran to its end. False also when the run stopped after some failures.
    package let isComplete: Bool
}

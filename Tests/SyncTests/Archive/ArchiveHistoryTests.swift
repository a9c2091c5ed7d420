import MergeModel
import Testing

@Suite struct ArchiveHistoryTests {
    @Test("replicas that share an archive end with the same rows and lack nothing, whatever failed on the way")
    func converges() async {
        let report = await ArchiveCampaign.run(seed: 1, count: 40)
        #expect(report.isComplete, "\(report.failures.joined(separator: "\n"))")
    }
}

import MergeModel
import Testing

@Suite struct ArchiveHistoryTests {
    @Test("replicas that share an archive end with the same rows and lack nothing, whatever failed on the way")
    func converges() async {
        let report = await ArchiveCampaign.run(seed: 1, count: 20)
        #expect(report.isComplete, "\(report.failures.joined(separator: "\n"))")
    }

    @Test("a pack whose writer left its stream before it announced it does not count as held for ever")
    func unannouncedPack() async {
        let report = await ArchiveCampaign.run(seed: 187_739_871, count: 1)
        #expect(report.isComplete, "\(report.failures.joined(separator: "\n"))")
    }

    @Test("a pack that is lost right behind those that a collection removed is not passed over")
    func lostBehindCollected() async {
        let report = await ArchiveCampaign.run(seed: 74_734_373, count: 1)
        #expect(report.isComplete, "\(report.failures.joined(separator: "\n"))")
    }
}

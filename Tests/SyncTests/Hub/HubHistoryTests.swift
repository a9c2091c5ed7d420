import MergeModel
import Testing

@Suite struct HubHistoryTests {
    @Test("replicas with an archive and its hubs know the same soon after the last fault, whichever hubs died")
    func converges() async {
        let report = await HubCampaign.run(seed: 1, count: 20)
        #expect(report.isComplete, "\(report.failures.joined(separator: "\n"))")
    }

    @Test("what a dead hub has not announced keeps nobody waiting who has read it", arguments: [158, 274, 277])
    func deadHub(seed: UInt64) async {
        let report = await HubCampaign.run(seed: seed, count: 1)
        #expect(report.isComplete, "\(report.failures.joined(separator: "\n"))")
    }
}

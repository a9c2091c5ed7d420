import MergeModel
import Testing

/// The engine against the model of `Tests/Harness/MergeModel`: a small sample of `make merge-random`.
@Suite("Merging against the model")
struct MergeModelTests {
    @Test("in random histories tables, held rows and ledger equal the model's, and equal knowledge gives equal bytes")
    func histories() async {
        let report = await HistoryCampaign.run(seed: 1, count: 40, knobs: .all)
        for failure in report.failures { Issue.record("\(failure)") }
        #expect(report.isComplete, "\(report.summary)")
    }

    @Test(
        "histories that once differed from the model",
        arguments: [186_597_615, 199_133_291, 230_360_666, 266_195_600, 411_001_830, 411_002_684] as [UInt64])
    func regressions(seed: UInt64) async {
        let report = await HistoryCampaign.run(seed: seed, count: 1, knobs: .all)
        for failure in report.failures { Issue.record("\(failure)") }
    }

    @Test("each subset of six random batches gives one state, that of the model, by every step that leads to it")
    func subsets() async {
        let report = await DeliveryCampaign.run(seed: 1, count: 2, whole: 0, knobs: .all)
        for failure in report.failures { Issue.record("\(failure)") }
        #expect(report.isComplete, "\(report.summary)")
    }

    @Test("in random fleets that are migrated machine by machine, what a user wrote stands or is in the ledger")
    func fleets() async {
        let report = await FleetCampaign.run(seed: 1, count: 20)
        for failure in report.failures { Issue.record("\(failure)") }
        #expect(report.isComplete, "\(report.summary)")
    }
}

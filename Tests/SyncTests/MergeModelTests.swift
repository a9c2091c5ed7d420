import MergeModel
import Testing

/// The engine against the model of `Tests/MergeModel`: a few of what `make merge-random` does many times.
@Suite("Merging against the model")
struct MergeModelTests {
    @Test("in random histories tables, held rows and ledger are the model's, and equal knowledge is equal bytes")
    func histories() async {
        let report = await HistoryCampaign.run(seed: 1, count: 40, knobs: .standard)
        for failure in report.failures { Issue.record("\(failure)") }
        #expect(report.isComplete, "\(report.summary)")
    }

    @Test("all 720 orders of six random batches give one state, the model's")
    func orders() async {
        let report = await DeliveryCampaign.run(seed: 1, count: 1, knobs: .standard)
        for failure in report.failures { Issue.record("\(failure)") }
        #expect(report.isComplete, "\(report.summary)")
    }
}

import StorageCampaign
import Testing

/// Short runs of `make power-loss` and `make power-loss POINTS=1`.
@Suite("Power loss and failing disks")
struct PowerLossTests {
    @Test(
        "after any loss of power, nothing promised is lost and no name has two contents", arguments: [1, 2, 3, 4])
    func images(seed: UInt64) async {
        let report = await PowerLossCampaign.run(seed: seed * 1_000, images: 60, steps: 12)
        #expect(report.failures.isEmpty)
        #expect(report.images == 60)
        #expect(report.continued > 0)
    }

    @Test(
        "after any fault of an operation on the disk, the file opens again with everything that was promised",
        arguments: CrashPoints.Mode.allCases)
    func points(mode: CrashPoints.Mode) async {
        let report = await CrashPoints.run(modes: [mode], stride: 61)
        #expect(report.failures.isEmpty)
        #expect(report.totalTried > 0)
    }
}

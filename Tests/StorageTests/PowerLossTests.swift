import StorageCampaign
import Testing

/// Small sizes of what `make power-loss` and `make disk-points` run at length.
@Suite("Power loss and failing disks")
struct PowerLossTests {
    @Test(
        "whatever a loss of power leaves, nothing promised is gone and nothing is named twice", arguments: [1, 2, 3, 4])
    func images(seed: UInt64) async {
        let report = await PowerLossCampaign.run(seed: seed * 1_000, images: 60, steps: 12)
        #expect(report.failures.isEmpty)
        #expect(report.images == 60)
        #expect(report.continued > 0)
    }

    @Test(
        "whatever goes wrong at an operation on the disk, the file opens again with all that was promised",
        arguments: CrashPoints.Mode.allCases)
    func points(mode: CrashPoints.Mode) async {
        let report = await CrashPoints.run(modes: [mode], stride: 61)
        #expect(report.failures.isEmpty)
        #expect(report.totalTried > 0)
    }
}

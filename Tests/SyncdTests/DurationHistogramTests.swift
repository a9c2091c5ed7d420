import Foundation
import Journal
import TestSupport
import Testing

@testable import Sync
@testable import SyncdCore

@Suite("Histograms of durations")
struct DurationHistogramTests {
    @Test("each frame with something new is in the bucket of its time, and buckets count all shorter ones too")
    func buckets() {
        let meter = ExchangeMeter()
        for milliseconds in [0, 1, 2, 3, 10_000, 10_001] as [Int64] { meter.applied(1, milliseconds: milliseconds) }
        meter.applied(0, milliseconds: 4)
        // A reading forgets the slowest frame; the histogram is since the start.
        #expect(meter.read().slowestApplyMilliseconds == 10_001)

        var text = PrometheusText()
        text.add("x_seconds", "Times.", meter.applyTimes)
        let lines = text.text.split(separator: "\n").map { String($0) }
        #expect(lines.prefix(2) == ["# HELP x_seconds Times.", "# TYPE x_seconds histogram"])
        for line in [
            "x_seconds_bucket{le=\"0.001\"} 2", "x_seconds_bucket{le=\"0.002\"} 3", "x_seconds_bucket{le=\"0.005\"} 4",
            "x_seconds_bucket{le=\"5.0\"} 4", "x_seconds_bucket{le=\"10.0\"} 5", "x_seconds_bucket{le=\"+Inf\"} 6",
            "x_seconds_sum 20.007", "x_seconds_count 6",
        ] {
            #expect(lines.contains(line), "\(text.text)")
        }
    }

    @Test("each sync of a file is measured, also one that fails")
    func syncs() throws {
        let directory = TemporaryDirectory()
        let meter = SyncMeter()
        _ = try meter.files.withFile(directory.file("record"), .updating) { file in
            try file.write([1], at: 0)
            try file.sync()
        }
        // A pipe has nothing to sync.
        #expect(mkfifo(directory.file("pipe"), 0o600) == 0)
        #expect(throws: FileError.self) {
            _ = try meter.files.withFile(directory.file("pipe"), .updating) { try $0.sync() }
        }
        #expect(meter.times.counts.reduce(0, +) == 2)
        #expect(meter.times.microseconds >= 0)
    }
}

import Testing

@testable import Sync
@testable import SyncdCore

@Suite("Times of received frames")
struct ApplyTimesTests {
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
}

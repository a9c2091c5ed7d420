import Journal
import Sync
import Testing

@testable import SyncdCore

@Suite("Figures over the last hour and day")
struct TrendTests {
    @Test("a bin has the largest value, or the sum, of what came in its time")
    func bins() {
        var peak = Trend(.peak, binSeconds: 10, count: 4)
        var sum = Trend(.sum, binSeconds: 10, count: 4)
        for (second, value) in [(0, 3), (9, 1), (10, 2), (31, 5)] as [(Int64, Int64)] {
            peak.add(value, at: second)
            sum.add(value, at: second)
        }
        #expect(peak.values(at: 31) == [3, 2, nil, 5])
        #expect(sum.values(at: 31) == [4, 2, nil, 5])
        #expect(peak.values(at: 45) == [2, nil, 5, nil])
        #expect(peak.values(at: 1_000_000) == [nil, nil, nil, nil])
    }

    @Test("old bins are dropped, also those that nothing was added to; a clock that goes back adds to the newest")
    func bound() {
        var trend = Trend(.sum, binSeconds: 1, count: 3)
        for second in 0..<1_000 as Range<Int64> { trend.add(second, at: second) }
        #expect(trend.values(at: 999) == [997, 998, 999])
        trend.add(1, at: 5)
        #expect(trend.values(at: 999) == [997, 998, 1_000])
        trend.add(7, at: 5_000)
        #expect(trend.values(at: 5_000) == [nil, nil, 7])
        trend.add(.max, at: 5_000)
        trend.add(.max, at: 5_000)
        #expect(trend.values(at: 5_000).count == 3)
    }

    @Test("before the first value there is nothing, and the first bins of a process are no trap")
    func empty() {
        var trend = Trend(.peak, binSeconds: 30, count: 120)
        #expect(trend.values(at: 0) == Array(repeating: nil, count: 120))
        trend.add(0, at: 0)
        #expect(trend.values(at: 0).last == .some(0) && trend.values(at: 0).compactMap(\.self) == [0])
    }

    @Test("a line has a gap where nothing was measured, and few points where nothing changes")
    func line() {
        func path(_ values: [Int64?], most: Int64 = 10) -> String { Chart(.lag, .hour, values).path(most: most) }
        #expect(path([nil, nil]) == "")
        #expect(path(Array(repeating: 10, count: 120)) == "M0 2L238 2")
        #expect(path(Array(repeating: 0, count: 3), most: 0) == "M0 38L238 38")
        #expect(path([nil, 5, nil, nil, 0, 10]) == "M47 20h2M190 38L238 2")
        #expect(path([0, 10, 0]) == "M0 38L119 2L238 38")
    }

    @Test("charts say in words what they show, and stay small")
    func charts() {
        var trends = Trends()
        #expect(trends.html(at: 0).text.contains("nothing measured yet"))
        for second in stride(from: 0, to: 86_400, by: 10) as StrideTo<Int64> {
            let value = second * 7_919 % 1_000
            trends.add(
                Dictionary(uniqueKeysWithValues: Trends.Figure.allCases.map { ($0, value) }), at: second)
        }
        let html = trends.html(at: 86_399).text
        #expect(html.split(separator: "<svg").count == 1 + 2 * Trends.Figure.allCases.count)
        #expect(html.contains("Open conflicts. Last hour: now ") && html.contains("Changes received. Last day: "))
        #expect(html.utf8.count < 20_000, "\(html.utf8.count)")
    }

    @Test("a sample has the slowest peer, and what was exchanged since the one before")
    func sample() async throws {
        let workspace = Workspace()
        let replica = try Replica.openReader(at: try await workspace.makeReplica())
        var report = try StatusReport(replica, countingRows: false)
        try replica.closeReader()
        var reading = ExchangeMeter.Reading()
        reading.received = 10
        let before = reading
        #expect(Trends.sample(report, reading, since: before)[.lag] == nil)
        reading.received = 12
        reading.sent = 5
        reading.slowestApplyMilliseconds = 40
        report.peers = [3, 9, nil].map { (changes: Int64?) in
            StatusReport.Peer(
                url: "http://a:1", origin: nil, lag: changes.map { PeerLag(changes: $0, milliseconds: 0) },
                lastContact: nil, lastError: nil)
        }
        let sample = Trends.sample(report, reading, since: before)
        #expect(sample[.lag] == 9 && sample[.received] == 2 && sample[.sent] == 5 && sample[.commit] == 40)
        #expect(sample[.size] == report.fileBytes + report.walBytes)
    }
}

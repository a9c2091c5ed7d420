import Testing

@testable import Sync

@Suite("Steps that are in the way of a file's programs keep a distance")
struct PaceTests {
    @Test("reading takes a tenth of the time of a file that changes without a pause")
    func share() {
        var pace = Pace.reading
        var now: Int64 = 0
        var read: Int64 = 0
        for _ in 0..<1_000 {
            now += pace.delay(at: now)
            now += 3
            read += 3
            pace.took(3, until: now)
        }
        #expect((9...11).contains(now / read), "\(read) ms of \(now)")
    }

    @Test("single steps do not wait, and neither do a few in a row")
    func single() {
        var pace = Pace.reading
        for step in 0..<100 {
            #expect(pace.delay(at: Int64(step) * 20) == 0)
            pace.took(2, until: Int64(step) * 20)
        }
        var applying = Pace.applying
        let delays = (0..<6).map { _ in
            defer { applying.took(Pace.commitMilliseconds, until: 0) }
            return applying.delay(at: 0)
        }
        #expect(delays == [0, 0, 0, 0, 200, 400])
        // All rest is over.
        #expect(applying.delay(at: 1_200) == 0)
    }

    @Test("a clock that stands still or steps back is no reason to wait for longer")
    func clock() {
        var pace = Pace.applying
        pace.took(1_000, until: 50)
        #expect(pace.delay(at: 0) == 400)
        #expect(pace.delay(at: 400) == 0)
    }
}

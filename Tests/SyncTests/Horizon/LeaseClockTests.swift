import Testing

@testable import Sync

@Suite("LeaseClock")
struct LeaseClockTests {
    private static let year: Int64 = 31_536_000_000
    private static let start = LeaseClock.Reading(wall: 1_800_000_000_000, steady: 5_000)

    private func clock(_ readings: [LeaseClock.Reading]) -> LeaseClock {
        var clock = LeaseClock(toleranceMilliseconds: 120_000, waitMilliseconds: 7_200_000)
        for reading in readings { clock.note(reading) }
        return clock
    }

    private func later(_ milliseconds: Int64, wall: Int64? = nil) -> LeaseClock.Reading {
        let start = LeaseClockTests.start
        return .init(wall: start.wall + (wall ?? milliseconds), steady: start.steady + milliseconds)
    }

    @Test("a clock that runs evenly, or drifts by less than replicas accept, judges leases")
    func even() {
        #expect(clock([]).isSure)
        #expect(clock([LeaseClockTests.start]).isSure)
        #expect(clock([LeaseClockTests.start, later(900_000)]).isSure)
        #expect(clock([LeaseClockTests.start, later(900_000, wall: 1_020_000)]).isSure)
    }

    @Test("a clock that was set judges none until all replicas that live are met", arguments: [Int64(1), -1])
    func step(sign: Int64) {
        let jump = sign * LeaseClockTests.year
        let set = [LeaseClockTests.start, later(900_000, wall: 900_000 + jump)]
        #expect(!clock(set).isSure)
        #expect(!clock(set + [later(8_100_000, wall: 8_100_000 + jump)]).isSure)
        #expect(clock(set + [later(8_100_001, wall: 8_100_001 + jump)]).isSure)
    }

    @Test("a machine that slept longer than it meant to judges none for a while")
    func sleep() {
        var clock = clock([LeaseClockTests.start])
        clock.note(later(LeaseClockTests.year), afterPauseOf: 900_000)
        #expect(!clock.isSure)
        clock.note(later(LeaseClockTests.year + 7_200_001))
        #expect(clock.isSure)
    }

    @Test("absurd times of day do not trap")
    func absurd() {
        #expect(!clock([.init(wall: .min, steady: 0), .init(wall: .max, steady: 1)]).isSure)
        #expect(!clock([.init(wall: .max, steady: 0), .init(wall: .min, steady: 1)]).isSure)
    }
}

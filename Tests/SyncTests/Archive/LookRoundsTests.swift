import Testing

@testable import Sync

@Suite("Looks behind the heads of an archive")
struct LookRoundsTests {
    private let stream = StreamID(7)

    /// A writer and a reader of one stream, whose clocks differ. The reader asks in rounds of a second.
    private struct Reading {
        var rounds = LookRounds(interval: 1_000)
        let stream: StreamID
        /// The writer's clock minus the reader's.
        var difference: Int64
        var next = 0
        var inVain = 0

        init(_ stream: StreamID, difference: Int64) {
            self.stream = stream
            self.difference = difference
        }

        /// Looks as often as allowed.
        ///
        /// - Parameter packs: When each pack was written, in the reader's steady milliseconds.
        mutating func look(at now: Int64, _ packs: [Int64]) {
            rounds.begin(now)
            while rounds.mayLook(at: stream) {
                if next < packs.count, packs[next] <= now {
                    rounds.passed(stream, written: packs[next] + difference, at: now)
                    next += 1
                } else {
                    inVain += 1
                    rounds.missed(stream)
                }
            }
        }
    }

    @Test(
        "a writer that writes faster than rounds come is read as fast, and hardly ever asked in vain, whatever its clock says",
        arguments: [250, 500, 520, 700, 990] as [Int64], [0, 3_600_000, -86_400_000] as [Int64])
    func fast(gap: Int64, difference: Int64) {
        let packs = (0..<400).map { Int64($0) * gap + Int64($0 * 37 % 20) }
        var reading = Reading(stream, difference: difference)
        let end = packs[packs.count - 1]
        for now in stride(from: Int64(40), through: end, by: 1_003) {
            reading.look(at: now, packs)
            let written = packs.filter { $0 <= now }.count
            #expect(written - reading.next <= 2, "at \(now)")
        }
        #expect(reading.inVain <= 40, "\(reading.inVain) looks in vain, \(reading.next) packs")
    }

    @Test("who was away reads all that is there in one round")
    func away() {
        let packs = (0..<100).map { Int64($0) * 300 }
        var reading = Reading(stream, difference: 5_000)
        for now in stride(from: Int64(1_000), through: 10_000, by: 1_000) { reading.look(at: now, packs) }
        reading.look(at: 40_000, packs)
        #expect(reading.next == 100)
        var new = Reading(stream, difference: 0)
        new.look(at: 40_000, packs)
        new.look(at: 41_000, packs)
        #expect(new.next == 100)
    }

    @Test("a writer that writes once in a round is asked once in a round")
    func slow() {
        let packs = (0..<60).map { Int64($0) * 1_010 }
        var reading = Reading(stream, difference: 0)
        for now in stride(from: Int64(500), through: 60_000, by: 1_000) { reading.look(at: now, packs) }
        #expect(reading.next >= 59 && reading.inVain <= 2)
    }

    @Test(
        "a clock that is set, and times that cannot be, cost some looks and stop nothing",
        arguments: [-40_000, 40_000] as [Int64])
    func clockIsSet(by milliseconds: Int64) {
        let packs = (0..<300).map { Int64($0) * 400 }
        var reading = Reading(stream, difference: 0)
        for now in stride(from: Int64(1_000), through: 110_000, by: 1_000) {
            if now == 30_000 { reading.difference = milliseconds }
            reading.look(at: now, packs)
        }
        #expect(packs.filter { $0 <= 110_000 }.count - reading.next <= 2)
        #expect(reading.inVain <= 60)
        for time in [Int64.min, .max, 0] { reading.rounds.passed(stream, written: time, at: 111_000) }
    }
}

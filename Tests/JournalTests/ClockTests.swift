import Foundation
import GRDB
import TestSupport
import Testing

@testable import Journal

@Suite("Clock and stamps")
struct ClockTests {
    private let directory = TemporaryDirectory()

    private func replica(_ clock: TestClock) throws -> (Replica, RawConnection) {
        let path = directory.file("a.sqlite")
        let replica = try Replica.make(at: path, schema: "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
        return (replica, try RawConnection(path: path, vfs: clock.vfs))
    }

    private func stamps(_ replica: Replica) throws -> [Stamp] {
        try replica.read { try JournalReader($0).entries(after: 0, limit: .max).map(\.stamp) }
    }

    @Test("a stamp carries the millisecond of the write, and writes of one millisecond count up")
    func wallClock() throws {
        let clock = TestClock(milliseconds: 1_700_000_000_123)
        let (replica, writer) = try replica(clock)
        try writer.run("INSERT INTO t VALUES (1, 1), (2, 2); UPDATE t SET a = 3")
        let stamps = try stamps(replica)
        #expect(stamps.map(\.milliseconds) == Array(repeating: 1_700_000_000_123, count: 4))
        #expect(stamps.map(\.counter) == [0, 1, 2, 3])
    }

    @Test("stamps rise after a clock that steps back, after sealing and after reopening")
    func backwards() throws {
        let clock = TestClock(milliseconds: 1_700_000_000_000)
        var (replica, writer) = try replica(clock)
        let times: [Int64] = [
            1_700_000_000_000, 1_600_000_000_000, 0, 1_700_000_000_001, 1, 1_800_000_000_000, 1_799_999_999_999,
        ]
        for (id, time) in times.enumerated() {
            clock.set(milliseconds: time)
            try writer.run("INSERT INTO t VALUES (\(id), 0)")
            switch id % 3 {
            case 0: try replica.write { _ = try Capture.refresh($0) }
            case 1:
                try replica.close()
                replica = try Replica.open(at: directory.file("a.sqlite"))
            default: break
            }
        }
        let stamps = try stamps(replica)
        #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
        #expect(
            stamps.map(\.milliseconds) == [
                1_700_000_000_000, 1_700_000_000_000, 1_700_000_000_000, 1_700_000_000_001, 1_700_000_000_001,
                1_800_000_000_000, 1_800_000_000_000,
            ])
    }

    @Test("a clock that stops, leaps ten years and comes back gives rising stamps, and the leap stays in them")
    func leap() throws {
        let clock = TestClock(milliseconds: 1_700_000_000_000)
        let (replica, writer) = try replica(clock)
        let tenYears: Int64 = 3_652 * 86_400_000
        for time in [0, 0, 0, tenYears, 0, -tenYears, 0] {
            clock.set(milliseconds: 1_700_000_000_000 + time)
            try writer.run("INSERT INTO t (a) VALUES (1)")
        }
        let stamps = try stamps(replica)
        #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
        #expect(stamps[2].milliseconds == 1_700_000_000_000 && stamps[2].counter == 2)
        #expect(stamps.dropFirst(3).map(\.milliseconds) == Array(repeating: 1_700_000_000_000 + tenYears, count: 4))
        #expect(try replica.read { try JournalReader($0).latestStamp() } == stamps.last)
    }

    @Test("a full counter carries into the milliseconds")
    func carry() {
        let day = 2_440_587.5 + 1.0
        var fold = LocalFold(after: .zero)
        var last = fold.stamp(capturedAt: day)
        for _ in 0..<70_000 {
            let next = fold.stamp(capturedAt: day)
            guard next.rawValue == last.rawValue + 1 else {
                Issue.record("a stamp left a gap")
                return
            }
            last = next
        }
        #expect(last.milliseconds == 86_400_001)
        #expect(last.counter == 70_000 - 65_536)
    }

    @Test("the clock saturates at both ends of time and never traps")
    func saturation() {
        #expect(Stamp.next(after: Stamp(rawValue: .max), now: .zero).rawValue == .max)
        #expect(Stamp(milliseconds: .min) == .zero)
        #expect(Stamp(milliseconds: .max).milliseconds == Stamp.latestMilliseconds)
        for day in [Double.nan, .infinity, -.infinity, -1e300, 1e300, 0] {
            var fold = LocalFold(after: Stamp(rawValue: 5))
            #expect(fold.stamp(capturedAt: day).rawValue > 5)
        }
        #expect(Stamp(julianDay: 2_440_587.5) == .zero)
    }

    @Test("a life rises with a delete of a live row and a write of a deleted row, and with nothing else")
    func lives() {
        var fold = LocalFold(after: .zero)
        let key = TableKey(table: 1, key: Key([.integer(1)]))
        let operations: [Journal.Operation] = [.insert, .insert, .update, .delete, .delete, .update, .insert, .delete]
        #expect(operations.map { fold.life(after: $0, on: key, written: 1) } == [1, 1, 1, 2, 2, 3, 3, 4])
        let other = TableKey(table: 2, key: Key([.integer(1)]))
        #expect(fold.life(after: .insert, on: other, written: 8) == 9)
        #expect(fold.lives == [key: 4, other: 9])
    }
}

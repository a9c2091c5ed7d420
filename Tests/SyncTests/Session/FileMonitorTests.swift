import Foundation
import Journal
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Sync

@Suite("Looking at the file when it may have changed")
struct FileMonitorTests {
    private static let position: FrameSource.Position = {
        var position = FrameSource.Position()
        position.seq = 3
        return position
    }()

    @Test("a look that fails is repeated, after longer and longer delays, without a signal of the file (P21)")
    func failures() async throws {
        let clock = ImpatientClock()
        let log = LogRecord()
        let tries = Mutex(0)
        let vector = VersionVector([.init(origin: OriginID(high: 1, low: 1), version: 3)])
        let (changes, signals) = AsyncStream.makeStream(of: Void.self)
        let lookout = FileMonitor(
            look: { last in
                #expect(last == nil)
                if tries.withLock({
                    $0 += 1; return $0
                }) < 4 {
                    throw SyncError(.busy, "locked")
                }
                return .init(position: Self.position, vector: vector)
            }, clock: clock, limits: .standard, logger: log.logger)
        var told: [VersionVector] = []
        await lookout.run(changes) { vector in
            told.append(vector)
            signals.finish()
        }
        #expect(told == [vector])
        #expect(clock.slept.withLock { $0 } == [250, 500, 1_000])
        #expect(log.all.count == 1, "\(log.all)")
    }

    @Test("a check that has to go on does so without a signal")
    func parts() async throws {
        let position = Self.position
        let vector = VersionVector([.init(origin: OriginID(high: 1, low: 1), version: 3)])
        let (changes, signals) = AsyncStream.makeStream(of: Void.self)
        let looks = Mutex(0)
        let lookout = FileMonitor(
            look: { last in
                #expect(last == nil)
                let number = looks.withLock { count in
                    count += 1
                    return count
                }
                if number == 3 { signals.finish() }
                return .init(position: position, vector: vector, isComplete: number == 3)
            }, clock: ImpatientClock(), limits: .standard, logger: LogRecord().logger)
        var told = 0
        await lookout.run(changes) { _ in told += 1 }
        #expect(told == 3)
    }

    @Test("a check that goes on rests only while a program writes", arguments: [false, true])
    func rests(isWritten: Bool) async throws {
        let position = Self.position
        let (changes, signals) = AsyncStream.makeStream(of: Void.self)
        let clock = ImpatientClock()
        let looks = Mutex<Int64>(0)
        let lookout = FileMonitor(
            look: { _ in
                clock.pass(milliseconds: 30)
                let number = looks.withLock { count in
                    count += 1
                    return count
                }
                if number == 6 { signals.finish() }
                let version = isWritten ? number : 1
                return .init(
                    position: position,
                    vector: VersionVector([.init(origin: OriginID(high: 1, low: 1), version: version)]),
                    isComplete: number == 6)
            }, clock: clock, limits: .standard, logger: LogRecord().logger)
        await lookout.run(changes) { _ in }
        // Each check owes ten times its length, and 100 ms may be outstanding. The next check counts as rest.
        #expect(clock.slept.withLock { $0 } == [200] + (isWritten ? [270, 270, 270, 270] : []))
    }

    @Test("the rest after a long check ends when nobody writes any more", arguments: [false, true])
    func stillness(isWritten: Bool) async throws {
        let (changes, signals) = AsyncStream.makeStream(of: Void.self)
        let clock = ImpatientClock()
        let looks = Mutex<Int64>(0)
        let lookout = FileMonitor(
            look: { _ in
                let number = looks.withLock { count in
                    count += 1
                    return count
                }
                if number == 1 { clock.pass(milliseconds: 200) }
                if number == 2 { signals.finish() }
                return .init(
                    position: Self.position,
                    vector: VersionVector([.init(origin: OriginID(high: 1, low: 1), version: number)]),
                    isComplete: number == 2)
            }, clock: clock, limits: .standard, logger: LogRecord().logger)
        if isWritten { clock.onSleep.withLock { $0 = { lookout.signals.add() } } }
        await lookout.run(changes) { _ in }
        #expect(clock.slept.withLock { $0 } == (isWritten ? [500, 500, 500, 400] : [500]))
    }

    @Test("an unchanged file is not reported again")
    func unchanged() async throws {
        let position = Self.position
        let vector = VersionVector([.init(origin: OriginID(high: 1, low: 1), version: 3)])
        let (changes, signals) = AsyncStream.makeStream(of: Void.self)
        let lookout = FileMonitor(
            look: { last in
                guard last == position else { return .init(position: position, vector: vector) }
                signals.finish()
                return nil
            }, clock: ImpatientClock(), limits: .standard, logger: LogRecord().logger)
        var told = 0
        await lookout.run(changes) { _ in
            told += 1
            signals.yield()
        }
        #expect(told == 1)
    }
}

/// A clock on which every sleep ends at once, and is recorded.
private final class ImpatientClock: SyncClock {
    let slept = Mutex<[Int64]>([])
    let onSleep = Mutex<@Sendable () -> Void>({})
    private let now = Mutex<Int64>(0)

    func wallMilliseconds() -> Int64 { 0 }
    func steadyMilliseconds() -> Int64 { now.withLock { $0 } }
    func sleep(milliseconds: Int64) async throws {
        pass(milliseconds: milliseconds)
        slept.withLock { $0.append(milliseconds) }
        onSleep.withLock { $0 }()
    }

    func pass(milliseconds: Int64) { now.withLock { $0 += milliseconds } }
}

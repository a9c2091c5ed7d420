import Synchronization
import Testing

@testable import Sync

@Suite("The log is shortened in a pause")
struct LogTrimmerTests {
    @Test("not while signals come, once afterwards, and again later when something was in the way")
    func pause() async {
        let (changes, signals) = AsyncStream.makeStream(of: Void.self)
        let record = TrimRecord(signals: signals, signalsWhileAsleep: 3, refusals: 2)
        signals.yield()
        await LogTrimmer(trim: { record.trim() }, clock: record, limits: .standard).run(changes)
        // Three sleeps end with a new signal, the fourth in silence.
        #expect(record.slept == [2_000, 2_000, 2_000, 2_000, 4_000, 8_000])
        #expect(record.trims == 3)
    }

    @Test("without a signal, nothing happens")
    func silence() async {
        let (changes, signals) = AsyncStream.makeStream(of: Void.self)
        let record = TrimRecord(signals: signals, signalsWhileAsleep: 0, refusals: 0)
        signals.finish()
        await LogTrimmer(trim: { record.trim() }, clock: record, limits: .standard).run(changes)
        #expect(record.slept.isEmpty && record.trims == 0)
    }
}

/// A clock on which a sleep ends at once. The file changes during the first sleeps.
private final class TrimRecord: SyncClock {
    private struct State {
        var slept: [Int64] = []
        var trims = 0
    }

    private let state = Mutex(State())
    private let signals: AsyncStream<Void>.Continuation
    private let signalsWhileAsleep: Int
    private let refusals: Int
    init(signals: AsyncStream<Void>.Continuation, signalsWhileAsleep: Int, refusals: Int) {
        self.signals = signals
        self.signalsWhileAsleep = signalsWhileAsleep
        self.refusals = refusals
    }

    var slept: [Int64] { state.withLock { $0.slept } }
    var trims: Int { state.withLock { $0.trims } }

    func trim() -> Bool {
        let trims = state.withLock { state in
            state.trims += 1
            return state.trims
        }
        if trims > refusals { signals.finish() }
        return trims > refusals
    }

    func wallMilliseconds() -> Int64 { 0 }
    func steadyMilliseconds() -> Int64 { 0 }

    func sleep(milliseconds: Int64) async throws {
        let count = state.withLock { state in
            state.slept.append(milliseconds)
            return state.slept.count
        }
        guard count <= signalsWhileAsleep else { return }
        signals.yield()
        // The other tasks receive the signal meanwhile.
        for _ in 0..<1_000 { await Task.yield() }
    }
}

import TestSupport
import Testing

@testable import Sync

@Suite struct BackoffTests {
    let limits = Limits.standard

    @Test("a delay is between zero and a bound that doubles up to the ceiling", arguments: 1...80)
    func bounds(failures: Int) {
        let bound = min(250 * (Int64(1) << Int64(min(failures - 1, 30))), 30_000)
        #expect(Backoff.delay(failures: failures, entropy: 0, limits: limits) == 0)
        #expect(Backoff.delay(failures: failures, entropy: .max, limits: limits) == bound)
        var generator = SplitMix(seed: UInt64(failures))
        for _ in 0..<100 {
            let delay = Backoff.delay(failures: failures, entropy: generator.next(), limits: limits)
            #expect((0...bound).contains(delay))
        }
    }

    @Test("a peer that asks for a delay gets it plus the jitter, within the limit")
    func askedFor() {
        #expect(Backoff.delay(failures: 1, entropy: 0, minimumMilliseconds: 5_000, limits: limits) == 5_000)
        #expect(Backoff.delay(failures: 1, entropy: .max, minimumMilliseconds: 5_000, limits: limits) == 5_250)
        #expect(Backoff.delay(failures: 1, entropy: 0, minimumMilliseconds: .max, limits: limits) == 300_000)
        #expect(Backoff.delay(failures: 1, entropy: 0, minimumMilliseconds: -1, limits: limits) == 0)
    }

    @Test("limits out of range do not trap")
    func oddLimits() {
        var odd = limits
        odd.backoffBaseMilliseconds = .max
        odd.backoffCeilingMilliseconds = 0
        #expect((0...1).contains(Backoff.delay(failures: .max, entropy: .max, limits: odd)))
        #expect((0...2).contains(Backoff.slowDelay(entropy: .max, limits: odd)))
        #expect(Backoff.delay(failures: .min, entropy: 1, limits: limits) == 0)
    }

    @Test("a failure that needs a person is retried slowly, never at once")
    func slow() {
        #expect(Backoff.slowDelay(entropy: 0, limits: limits) == 15_000)
        #expect(Backoff.slowDelay(entropy: .max, limits: limits) == 30_000)
    }
}

import Journal
import TestSupport
import Testing

@testable import Sync

@Suite struct FollowStateTests {
    private let a = OriginID(high: 1, low: 1)
    private let b = OriginID(high: 2, low: 2)

    private func vector(a versionA: Int64 = 0, b versionB: Int64 = 0) -> VersionVector {
        VersionVector([.init(origin: a, version: versionA), .init(origin: b, version: versionB)])
    }

    private func following() -> FollowState {
        var state = FollowState()
        _ = state.handle(.started, entropy: 0)
        _ = state.handle(.greeted(vector()), entropy: 0)
        return state
    }

    private let down = SyncError(.unreachable, "down")

    @Test("a peer gets a hello, a pull at once, and then a long poll for ever")
    func pulls() {
        var state = FollowState()
        #expect(state.handle(.started, entropy: 0) == [.greet])
        #expect(state.handle(.greeted(vector()), entropy: 0) == [.pull(waits: false)])
        #expect(state.handle(.pulled(vector(b: 1), more: true), entropy: 0) == [.pull(waits: false)])
        #expect(state.handle(.pulled(vector(b: 2), more: false), entropy: 0) == [.pull(waits: true)])
    }

    @Test("what the peer lacks is pushed, one push at a time")
    func pushes() {
        var state = following()
        #expect(state.handle(.changed(vector(a: 1)), entropy: 0) == [.push(lacks: vector())])
        #expect(state.handle(.changed(vector(a: 2)), entropy: 0) == [])
        #expect(state.handle(.pushed(vector(a: 1)), entropy: 0) == [.push(lacks: vector(a: 1))])
        #expect(state.handle(.pushed(vector(a: 2)), entropy: 0) == [])
        #expect(state.handle(.changed(vector(a: 2)), entropy: 0) == [])
    }

    @Test("what the peer defers is pushed again after a pull, also after one that ended before the push did")
    func deferred() {
        var state = following()
        #expect(state.handle(.changed(vector(a: 1)), entropy: 0) == [.push(lacks: vector())])
        #expect(state.handle(.pushed(vector(), deferred: vector(a: 1)), entropy: 0) == [])
        let again = FollowState.Effect.push(lacks: vector(b: 1))
        #expect(state.handle(.pulled(vector(b: 1), more: false), entropy: 0) == [.pull(waits: true), again])
        #expect(state.handle(.pulled(vector(b: 2), more: false), entropy: 0) == [.pull(waits: true)])
        #expect(
            state.handle(.pushed(vector(), deferred: vector(a: 1)), entropy: 0) == [.push(lacks: vector(b: 2))])
        #expect(state.handle(.pushed(vector(), deferred: vector(a: 1)), entropy: 0) == [])
    }

    @Test("nothing is pushed before the peer said what it knows")
    func greetingFirst() {
        var state = FollowState()
        #expect(state.handle(.changed(vector(a: 3)), entropy: 0) == [])
        #expect(state.handle(.started, entropy: 0) == [.greet])
        #expect(state.handle(.greeted(vector(a: 1)), entropy: 0) == [.pull(waits: false), .push(lacks: vector(a: 1))])
    }

    @Test("with the direction pull, nothing is pushed")
    func pullOnly() {
        var state = FollowState(direction: .pull)
        _ = state.handle(.started, entropy: 0)
        #expect(state.handle(.changed(vector(a: 3)), entropy: 0) == [])
        #expect(state.handle(.greeted(vector()), entropy: 0) == [.pull(waits: false)])
        #expect(state.handle(.pulled(vector(b: 1), more: false), entropy: 0) == [.pull(waits: true)])
        #expect(state.handle(.changed(vector(a: 4)), entropy: 0) == [] && state.push == .closed)
    }

    @Test("with the direction push, nothing is pulled; hellos go on, and tell what the peer has")
    func pushOnly() {
        var state = FollowState(direction: .push)
        let rest = FollowState.Effect.rest(.pull, milliseconds: Int64(Limits.standard.longPollSeconds) * 1_000)
        _ = state.handle(.started, entropy: 0)
        #expect(state.handle(.changed(vector(a: 3)), entropy: 0) == [])
        #expect(state.handle(.greeted(vector()), entropy: 0) == [rest, .push(lacks: vector())])
        #expect(state.handle(.pushed(vector(a: 3)), entropy: 0) == [])
        #expect(state.handle(.rested(.pull), entropy: 0) == [.greet])
        // The peer was restored from a backup meanwhile.
        #expect(state.handle(.greeted(vector(a: 1)), entropy: 0) == [rest, .push(lacks: vector(a: 1))])
        guard case .rest(.push, _)? = state.handle(.failed(.push, down), entropy: 0).first else {
            Issue.record("a push that failed is not tried again")
            return
        }
        _ = state.handle(.rested(.pull), entropy: 0)
        guard case .rest(.pull, _)? = state.handle(.failed(.pull, down), entropy: 0).first else {
            Issue.record("a hello that failed is not tried again")
            return
        }
        #expect(state.pullFailures == 1)
        _ = state.handle(.rested(.pull), entropy: 0)
        #expect(state.handle(.greeted(vector(a: 1)), entropy: 0) == [rest] && state.pullFailures == 0)
    }

    @Test("what came from the peer is not pushed back to it")
    func noEcho() {
        var state = following()
        _ = state.handle(.pulled(vector(b: 7), more: false), entropy: 0)
        #expect(state.handle(.changed(vector(b: 7)), entropy: 0) == [])
    }

    @Test("a peer that polls gets new changes by its poll")
    func leftToPull() {
        var state = following()
        #expect(state.handle(.changed(vector(a: 1)), entropy: 0) == [.push(lacks: vector())])
        #expect(state.handle(.leftToPull(vector(a: 1)), entropy: 0) == [])
        // The peer did not get them, and says so in its next answer.
        #expect(
            state.handle(.pulled(vector(), more: false), entropy: 0)
                == [.pull(waits: true), .push(lacks: vector())])
    }

    @Test("a push begins at what the peer has, and not at what its poll will bring it")
    func pushBesidePull() {
        var state = following()
        _ = state.handle(.changed(vector(a: 1)), entropy: 0)
        #expect(state.handle(.leftToPull(vector(a: 1)), entropy: 0) == [])
        #expect(state.handle(.changed(vector(a: 2)), entropy: 0) == [.push(lacks: vector())])
    }

    @Test("after a failure the peer rests, longer each time, and gets a hello again")
    func backsOff() {
        var state = following()
        for failure in 1...10 {
            let bound = min(250 * (Int64(1) << Int64(failure - 1)), 30_000)
            #expect(state.handle(.failed(.pull, down), entropy: .max) == [.rest(.pull, milliseconds: bound)])
            #expect(state.handle(.rested(.pull), entropy: 0) == [.greet])
        }
        _ = state.handle(.greeted(vector()), entropy: 0)
        #expect(state.pullFailures == 10)
        _ = state.handle(.pulled(vector(), more: false), entropy: 0)
        #expect(state.pullFailures == 0)
    }

    @Test("a failing push rests by itself and does not affect the long poll")
    func lanes() {
        var state = following()
        _ = state.handle(.changed(vector(a: 1)), entropy: 0)
        let refusal = SyncError(.tooLarge, "too large")
        #expect(state.handle(.failed(.push, refusal), entropy: 0) == [.rest(.push, milliseconds: 15_000)])
        #expect(state.handle(.changed(vector(a: 2)), entropy: 0) == [])
        #expect(state.handle(.pulled(vector(), more: false), entropy: 0) == [.pull(waits: true)])
        #expect(state.handle(.rested(.push), entropy: 0) == [.push(lacks: vector())])
    }

    @Test("a peer that asks for a delay gets it")
    func retryAfter() {
        var state = following()
        let busy = SyncError(.busy, "busy", retryAfterSeconds: .max)
        #expect(state.handle(.failed(.pull, busy), entropy: 0) == [.rest(.pull, milliseconds: 300_000)])
    }

    @Test("a peer that is this replica itself is not followed any longer")
    func itself() {
        var state = FollowState()
        _ = state.handle(.started, entropy: 0)
        #expect(state.handle(.failed(.pull, SyncError(.selfPeer, "self")), entropy: 0) == [.giveUp])
        #expect(state.handle(.changed(vector(a: 1)), entropy: 0) == [])
        #expect(state.handle(.rested(.pull), entropy: 0) == [])
    }

    @Test("in any order of events, each lane runs one request at a time")
    func anyOrder() {
        for seed in 0..<200 as Range<UInt64> {
            var generator = SplitMix(seed: seed)
            var state = FollowState()
            var running: [FollowState.Lane: Int] = [.pull: 0, .push: 0]
            for _ in 0..<200 {
                let event = randomEvent(&generator)
                let wasRunning = (pull: state.pull == .running, push: state.push == .running)
                let effects = state.handle(event, entropy: generator.next())
                switch event {
                case .greeted, .pulled, .failed(.pull, _): if wasRunning.pull { running[.pull, default: 0] -= 1 }
                case .pushed, .leftToPull, .failed(.push, _): if wasRunning.push { running[.push, default: 0] -= 1 }
                default: break
                }
                for effect in effects {
                    switch effect {
                    case .greet, .pull: running[.pull, default: 0] += 1
                    case .push(let lacks):
                        running[.push, default: 0] += 1
                        #expect(!lacks.covers(state.ours))
                    case .rest(_, let milliseconds): #expect((0...330_000).contains(milliseconds))
                    case .giveUp: break
                    }
                }
                #expect((0...1).contains(running[.pull, default: 0]))
                #expect((0...1).contains(running[.push, default: 0]))
            }
        }
    }

    private func randomEvent(_ generator: inout SplitMix) -> FollowState.Event {
        let some = vector(
            a: Int64.random(in: 0...5, using: &generator), b: Int64.random(in: 0...5, using: &generator))
        switch Int.random(in: 0..<9, using: &generator) {
        case 0: return .started
        case 1: return .greeted(some)
        case 2: return .pulled(some, more: Bool.random(using: &generator))
        case 3: return .pushed(some)
        case 4: return .leftToPull(some)
        case 5: return .changed(some)
        case 6: return .failed(Bool.random(using: &generator) ? .pull : .push, down)
        case 7: return .rested(.pull)
        default: return .rested(.push)
        }
    }
}

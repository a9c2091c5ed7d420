import Journal
import Testing

@testable import Sync

@Suite("What pulls tell of their replicas")
struct WaitingPullersTests {
    private let peer = OriginID(high: 1, low: 7)

    private func have(_ version: Int64) -> VersionVector {
        VersionVector([.init(origin: OriginID(high: 1, low: 1), version: version)])
    }

    @Test("the last pull counts, also when it says less: the replica may have been restored")
    func last() {
        let pullers = WaitingPullers(clock: SystemClock())
        #expect(pullers.have(of: peer).isEmpty)
        for version: Int64 in [3, 9, 2] {
            pullers.note(have(version), of: peer)
            #expect(pullers.have(of: peer) == have(version))
        }
    }

    @Test("a caller with ever new names fills no memory")
    func bounded() {
        let pullers = WaitingPullers(clock: SystemClock())
        pullers.note(have(1), of: peer)
        for number: UInt64 in 1...300 { pullers.note(have(2), of: OriginID(high: 2, low: number)) }
        #expect(pullers.have(of: peer).isEmpty)
        #expect(pullers.have(of: OriginID(high: 2, low: 300)) == have(2))
    }
}

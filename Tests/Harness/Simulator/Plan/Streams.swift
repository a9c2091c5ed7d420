import TestSupport

/// The randomness of one scenario: one seed, and a stream of its own for each concern, so that one more draw
/// in a concern does not change the others.
struct Streams: Sendable {
    enum Concern: UInt64, CaseIterable, Sendable {
        case topology = 1
        case workload, faults, network, scheduler, clocks, storage, entropy, checks, peers, durability, bitRot
        case contention, buggify, redelivery, compaction, migrations, archives, hubs, secondArchive, directions
    }

    let seed: UInt64

    /// - Parameter index: Separates the streams of several machines.
    func stream(_ concern: Concern, _ index: Int = 0) -> SplitMix {
        var root = SplitMix(seed: seed)
        let salt = concern.rawValue << 32 | UInt64(index)
        var child = SplitMix(seed: root.next() ^ salt &* 0xD6E8_FEB8_6659_FD93)
        return SplitMix(seed: child.next())
    }
}

extension SplitMix {
    /// A number from 0 to 1, without 1.
    mutating func unit() -> Double { Double(next() >> 11) / Double(1 << 53) }

    /// True in `rate` of all draws.
    mutating func happens(_ rate: Double) -> Bool { unit() < rate }

    mutating func between(_ range: ClosedRange<Int>) -> Int { range.lowerBound + below(range.count) }
}

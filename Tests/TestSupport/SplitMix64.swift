/// A small random generator whose every draw follows from its seed (Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", 2014). Tests print the seed; the same seed gives the same run.
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// A number in 0..<bound; 0 when `bound` is not positive.
    public mutating func below(_ bound: Int) -> Int {
        bound > 0 ? Int(next() % UInt64(bound)) : 0
    }

    /// True in `percent` of 100 draws.
    public mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    /// One element of a list that is not empty.
    public mutating func pick<T>(_ elements: [T]) -> T { elements[below(elements.count)] }
}

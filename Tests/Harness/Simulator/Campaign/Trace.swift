import Foundation

/// The events of a scenario as one hash, and as text for people.
struct Trace {
    private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    private(set) var length = 0
    /// The entries to print; nil for none.
    let prints: ClosedRange<Int>?

    mutating func note(_ time: Int64, _ text: @autoclosure () -> String) {
        length += 1
        let line = text()
        append(UInt64(bitPattern: time))
        for byte in line.utf8 { append(byte) }
        if let prints, prints.contains(length) {
            FileHandle.standardOutput.write(Data("\(length) \(time) ms: \(line)\n".utf8))
        }
    }

    mutating func append(_ bytes: some Sequence<UInt8>) { for byte in bytes { append(byte) } }

    private mutating func append(_ number: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) { append(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
    }

    private mutating func append(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
}

import Testing

@testable import Journal

@Suite("Checksums and numbers of variable length")
struct ValueCodingTests {
    @Test("a checksum has the published value, and the same text in every release")
    func checksum() {
        // http://www.isthe.com/chongo/tech/comp/fnv/, the test vector for 64-bit FNV-1a of "foobar"
        #expect(Checksum.fnv1a("foobar".utf8) == 0x8594_4171_F739_67E8)
        #expect(Checksum.text("age > 18".utf8) == "3i9pg9r84e0cr")
    }

    @Test("a number reads back as it was written", arguments: [0, 1, 127, 128, 16_383, 16_384, 1 << 63, .max])
    func numbers(number: UInt64) throws {
        var bytes: [UInt8] = [0xFF]
        LEB128.append(number, to: &bytes)
        bytes.append(7)
        var index = 1
        #expect(try LEB128.read(bytes, at: &index) == number)
        #expect(index == bytes.count - 1)
    }

    @Test("a number beyond 64 bits, or without its end, is refused")
    func badNumbers() {
        let nine = [UInt8](repeating: 0x80, count: 9)
        for (bytes, failure) in [
            (nine + [2], LEB128.Failure.tooLarge), (nine + [0x81], .tooLarge), (nine, .cutOff), ([], .cutOff),
        ] {
            var index = 0
            #expect(throws: failure) { try LEB128.read(bytes, at: &index) }
        }
    }
}

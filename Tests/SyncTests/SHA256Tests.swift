import Sync
import Testing

@Suite("SHA-256")
struct SHA256Tests {
    /// The examples of FIPS 180-4, by
    /// https://csrc.nist.gov/projects/cryptographic-standards-and-guidelines/example-values.
    @Test(
        "The digests of the standard's examples are right",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func examples(text: String, digest: String) {
        #expect(hex(SHA256.digest(of: Array(text.utf8))) == digest)
    }

    @Test("Parts give the digest of the whole, and the next digest does not contain them")
    func parts() {
        var hash = SHA256()
        for _ in 0..<1_000 { hash.update([UInt8](repeating: UInt8(ascii: "a"), count: 1_000)) }
        #expect(hex(hash.finish()) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
        hash.update(Array("abc".utf8))
        #expect(hash.finish() == SHA256.digest(of: Array("abc".utf8)))
    }

    @Test("Digests are equal only when all of their bytes are")
    func comparison() {
        let digest = SHA256.digest(of: Array("abc".utf8))
        #expect(SHA256.areEqual(digest, SHA256.digest(of: Array("abc".utf8))))
        for index in digest.indices {
            var other = digest
            other[index] ^= 1
            #expect(!SHA256.areEqual(digest, other))
        }
        #expect(!SHA256.areEqual(digest, Array(digest.dropLast())))
        #expect(!SHA256.areEqual(digest, []))
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}

/// The rules for the keys of objects.
///
/// libcurl removes segments of dots from paths, and signs other characters than these in ways that servers refuse.
package enum ObjectKey {
    /// Bytes of the longest key of S3.
    static let mostBytes = 1_024

    /// True for a key that every store keeps: not empty, with segments of `[a-z0-9.-]` that do not begin with a dot.
    package static func isValid(_ key: String) -> Bool {
        key.utf8.count <= mostBytes
            && key.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { segment in
                !segment.isEmpty && segment.first != "." && segment.utf8.allSatisfy(isPlain)
            }
    }

    /// True for the beginning of a key, which may end anywhere.
    static func isPrefix(_ text: String) -> Bool { text.isEmpty || isValid(text + "0") }

    /// True for `[a-z0-9.-]`.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2E || byte == 0x2D
    }
}

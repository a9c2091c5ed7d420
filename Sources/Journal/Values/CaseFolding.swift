/// Full case folding of Unicode: the mappings C and F of CaseFolding.txt
/// (https://www.unicode.org/Public/UCD/latest/ucd/CaseFolding.txt). Python's `casefold` and Rust's `unicase`
/// fold in the same way.
///
/// The standard library has no table of foldings. Where a letter has case, its folding is the lowercase of its
/// uppercase; the exceptions are below.
enum CaseFolding {
    /// Returns the UTF-8 of the folded text. What is no UTF-8 counts as U+FFFD.
    static func folded(_ text: UnsafeRawBufferPointer) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        guard text.contains(where: { $0 >= 0x80 }) else {
            result.append(contentsOf: text.lazy.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 })
            return result
        }
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars { append(scalar, to: &result) }
        return result
    }

    /// True when a text has letters beyond ASCII that have case, or fold to others: a comparison that knows the
    /// 26 letters of ASCII only can put them in another place than one that folds case.
    static func isBeyondASCII(_ text: String) -> Bool {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        return text.unicodeScalars.contains { !$0.isASCII && $0.properties.isCased }
    }

    private static func append(_ scalar: Unicode.Scalar, to result: inout [UInt8]) {
        switch scalar.value {
        case 0x41...0x5A: result.append(UInt8(scalar.value) + 0x20)
        case ..<0x80: result.append(UInt8(scalar.value))
        // The letters of Cherokee fold to their uppercase, which is older. The dotless i folds in Turkic only.
        case 0x131, 0x13A0...0x13F5: append(utf8: scalar, to: &result)
        case 0x13F8...0x13FD, 0xAB70...0xABBF:
            let folded = scalar.value >= 0xAB70 ? scalar.value - 0xAB70 + 0x13A0 : scalar.value - 8
            append(utf8: Unicode.Scalar(folded) ?? scalar, to: &result)
        default:
            guard scalar.properties.isCased else { return append(utf8: scalar, to: &result) }
            // Only the lowercase of a letter has an uppercase of several letters: U+1E9E, U+00DF, SS.
            for lower in scalar.properties.lowercaseMapping.unicodeScalars {
                for upper in lower.properties.uppercaseMapping.unicodeScalars {
                    for folded in upper.properties.lowercaseMapping.unicodeScalars {
                        append(utf8: folded, to: &result)
                    }
                }
            }
        }
    }

    private static func append(utf8 scalar: Unicode.Scalar, to result: inout [UInt8]) {
        result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }
}

/// The parts of a decimal number in a TEXT column. The number is not computed: comparing needs no arithmetic,
/// and no digit is lost.
struct DecimalText {
    private enum Sign: Int {
        case negative = -1
        case zero, positive
    }

    private let bytes: UnsafeRawBufferPointer
    private let sign: Sign
    /// The position of the first non-zero digit: 1 for the ones, 2 for the tens; 0 for the tenths, -1 for the
    /// hundredths.
    private let magnitude: Int
    /// The range from the first non-zero digit to the last digit. A point may be among them.
    private let digits: Range<Int>

    /// Parses the bytes of a text.
    ///
    /// - Returns: nil for a text that is not a decimal number, such as an empty one.
    init?(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        var index = 0
        var isNegative = false
        if let first = bytes.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
            isNegative = first == UInt8(ascii: "-")
            index = 1
        }
        var point: Int?
        var start: Int?
        var count = 0
        let mantissa = index
        while index < bytes.count {
            let byte = bytes[index]
            if DecimalText.isDigit(byte) {
                count += 1
                if start == nil, byte != UInt8(ascii: "0") { start = index }
            } else if byte == UInt8(ascii: "."), point == nil {
                point = index
            } else {
                break
            }
            index += 1
        }
        let end = index
        guard count > 0, let exponent = DecimalText.exponent(bytes, from: index) else { return nil }
        let ones = point ?? end
        guard let start else {
            (sign, magnitude, digits) = (.zero, 0, mantissa..<mantissa)
            return
        }
        sign = isNegative ? .negative : .positive
        magnitude = (start < ones ? ones - start : ones - start + 1) + exponent
        digits = start..<end
    }

    /// Parses the exponent that begins at `start`.
    ///
    /// - Returns: 0 without an exponent; nil for text that is not an exponent, or for an exponent with too
    ///   many digits.
    private static func exponent(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        if start == bytes.count { return 0 }
        guard bytes[start] == UInt8(ascii: "e") || bytes[start] == UInt8(ascii: "E"), bytes.count - start < 12,
            let text = String(validating: bytes[(start + 1)...], as: UTF8.self)
        else { return nil }
        return Int(text)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Compares two numbers.
    ///
    /// - Returns: A number less than, equal to, or greater than 0 when `a` is less than, equal to, or greater
    ///   than `b`.
    static func compare(_ a: DecimalText, _ b: DecimalText) -> Int {
        if a.sign != b.sign { return a.sign.rawValue - b.sign.rawValue }
        if a.sign == .zero { return 0 }
        let size = a.magnitude == b.magnitude ? compareDigits(a, b) : a.magnitude < b.magnitude ? -1 : 1
        return size * a.sign.rawValue
    }

    private static func compareDigits(_ a: DecimalText, _ b: DecimalText) -> Int {
        var left = a.digits.lowerBound
        var right = b.digits.lowerBound
        while true {
            let x = a.digit(at: &left)
            let y = b.digit(at: &right)
            // The shorter number continues with zeros.
            if x == nil, y == nil { return 0 }
            let (p, q) = (x ?? UInt8(ascii: "0"), y ?? UInt8(ascii: "0"))
            if p != q { return p < q ? -1 : 1 }
        }
    }

    private func digit(at index: inout Int) -> UInt8? {
        if index < digits.upperBound, bytes[index] == UInt8(ascii: ".") { index += 1 }
        guard index < digits.upperBound else { return nil }
        defer { index += 1 }
        return bytes[index]
    }

    /// Orders any two texts: numbers by value, then all other texts by their bytes.
    static func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        switch (DecimalText(a), DecimalText(b)) {
        case (let a?, let b?): return compare(a, b)
        case (.some, nil): return -1
        case (nil, .some): return 1
        case (nil, nil):
            if a.elementsEqual(b) { return 0 }
            return a.lexicographicallyPrecedes(b) ? -1 : 1
        }
    }
}

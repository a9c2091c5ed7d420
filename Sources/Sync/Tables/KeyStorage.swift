import Journal

/// How one column of a primary key stores values, by its ``Affinity``.
///
/// A machine whose table declares another type, or a peer that makes values up, may send a key that this file would store as another
/// one: '1' as 1, or NULL as a new number. Such a row cannot be shown without taking another row for it.
enum KeyStorage {
    case asIs
    /// Text that looks like a number becomes one.
    case numeric
    /// Numbers become text.
    case text

    init(_ column: TableInspection.Column, isStrict: Bool) {
        switch Affinity(column, isStrict: isStrict) {
        case .none: self = .asIs
        case .text: self = .text
        // 1 and 1.0 are one key.
        case .numeric, .real: self = .numeric
        }
    }

    /// True when the value is stored as itself; 1 and 1.0 are one key.
    func keeps(_ value: Value) -> Bool {
        switch (self, value) {
        case (_, .null), (.text, .integer), (.text, .real): false
        case (.numeric, .text(let bytes)): !KeyStorage.looksNumeric(bytes)
        default: true
        }
    }

    /// True for a well-formed integer or real literal, white space around it allowed.
    static func looksNumeric(_ bytes: Bytes) -> Bool {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        var rest = bytes.drop(while: isSpace)
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        func sign() { if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() } }
        func digits() -> Int {
            let count = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
            rest.removeFirst(count)
            return count
        }
        sign()
        var count = digits()
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            count += digits()
        }
        guard count > 0 else { return false }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest.removeFirst()
            sign()
            guard digits() > 0 else { return false }
        }
        return rest.isEmpty
    }
}

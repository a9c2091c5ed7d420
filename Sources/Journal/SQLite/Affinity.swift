/// How a column converts the values that are written to it, by its declared type
/// (https://sqlite.org/datatype3.html, section 3.1).
///
/// INTEGER and NUMERIC columns store the same values. The raw values are part of digest replies
/// (docs/tandem.proto).
package enum Affinity: UInt8, Sendable, Hashable {
    /// Stores every value unchanged: BLOB affinity, or ANY in a STRICT table.
    case none = 0
    /// Converts text that looks like a number to a number.
    case numeric = 1
    /// Converts numbers to text.
    case text = 2
    /// As ``numeric``, and converts integers to floating-point numbers.
    case real = 3

    package init(_ column: TableInspection.Column, isStrict: Bool) {
        let type = column.declaredType.uppercased()
        if type.contains("INT") {
            self = .numeric
        } else if type.contains("CHAR") || type.contains("CLOB") || type.contains("TEXT") {
            self = .text
        } else if type.isEmpty || type.contains("BLOB") || (isStrict && type == "ANY") {
            self = .none
        } else if type.contains("REAL") || type.contains("FLOA") || type.contains("DOUB") {
            self = .real
        } else {
            self = .numeric
        }
    }

    /// The type that a CAST needs to give an expression this affinity; nil for ``none``.
    package var typeName: String? {
        switch self {
        case .none: nil
        case .numeric: "NUMERIC"
        case .text: "TEXT"
        case .real: "REAL"
        }
    }

    /// True for a value of the storage class that the affinity prefers. A CAST to the affinity's type keeps
    /// it, and would convert any other.
    package func isNative(_ value: Value) -> Bool {
        switch (self, value) {
        case (.numeric, .integer), (.numeric, .real), (.real, .integer), (.real, .real), (.text, .text): true
        default: false
        }
    }

    /// SQL that gives `expression` this affinity.
    package func cast(_ expression: String) -> String {
        typeName.map { "CAST(\(expression) AS \($0))" } ?? expression
    }

    /// True for a well-formed integer or real literal; white space around it is allowed.
    package static func looksNumeric(_ bytes: Bytes) -> Bool {
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

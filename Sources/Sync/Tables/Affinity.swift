import Journal

/// How a column converts the values that are written to it, by its declared type (https://sqlite.org/datatype3.html, section 3.1).
///
/// INTEGER and NUMERIC store the same. The raw values stand in digest replies (docs/tandem.proto).
enum Affinity: UInt8, Sendable, Hashable {
    /// Every value as it is: BLOB affinity, or ANY in a STRICT table.
    case none = 0
    /// Text that looks like a number becomes one.
    case numeric = 1
    /// Numbers become text.
    case text = 2
    /// As ``numeric``, and integers become floating-point numbers.
    case real = 3

    init(_ column: TableInspection.Column, isStrict: Bool) {
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
}

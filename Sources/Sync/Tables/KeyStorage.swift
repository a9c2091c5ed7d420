import Journal

/// How one column of a primary key stores values, by its ``Affinity``.
///
/// A peer can send a key that this file would convert to another one, '1' to 1 or NULL to a new number: the
/// peer's table declares another type, or the peer makes values up. Such a row cannot be shown, because it
/// would be taken for another row.
enum KeyStorage {
    case asIs
    /// Converts text that looks like a number to a number.
    case numeric
    /// Converts numbers to text.
    case text

    init(_ column: TableInspection.Column, isStrict: Bool) {
        switch Affinity(column, isStrict: isStrict) {
        case .none: self = .asIs
        case .text: self = .text
        // 1 and 1.0 are one key.
        case .numeric, .real: self = .numeric
        }
    }

    /// True when the column stores the value unchanged; 1 and 1.0 are one key.
    func keeps(_ value: Value) -> Bool {
        switch (self, value) {
        case (_, .null), (.text, .integer), (.text, .real): false
        case (.numeric, .text(let bytes)): !Affinity.looksNumeric(bytes)
        default: true
        }
    }
}

import Foundation
import Journal

extension Model {
    /// The stored value of a JSON value that other programs write: a date in ISO 8601, a UUID in upper case,
    /// an array or object for a `@JSON` property, an integer key as text.
    ///
    /// - Returns: nil when the property's type cannot be read from it.
    static func stored(fromBorder value: JSONValue, _ position: Int) -> Value? {
        let column = Fields._columns[position]
        let decoder = JSONDecoder()
        decoder.userInfo[.column] = column
        // A number is a date in its stored form, and not in the decoder's.
        decoder.dateDecodingStrategy = .custom { decoder in
            if let date = BorderDate.parse(try decoder.singleValueContainer().decode(String.self)) { return date }
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "The text is no date in ISO 8601"))
        }
        let object = JSONValue.object([.init(name: column._property, value: value)])
        var fields = Fields()
        guard let found = try? decoder.decode(StoredColumn.self, from: Data(object.spacedText.utf8)).value,
            (try? fields._set(position, to: found)) != nil
        else { return nil }
        return found
    }
}

/// Dates as other programs write them.
enum BorderDate {
    /// Reads ISO 8601, with or without a fraction of a second; also a date alone, or SQLite's form.
    static func parse(_ text: String) -> Date? {
        CivilTime.parse(text) ?? (try? Date.ISO8601FormatStyle().parse(text))
            ?? (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
    }
}

/// Reads the column that the decoder's `userInfo` has.
private struct StoredColumn: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws {
        guard let column = decoder.userInfo[.column] as? any FieldColumn else {
            preconditionFailure("StoredColumn is decoded with a column")
        }
        value = try column._decode(from: decoder.container(keyedBy: PropertyKey.self))
    }
}

extension CodingUserInfoKey {
    fileprivate static let column = CodingUserInfoKey("store.column")

    /// Set it to true in an encoder's `userInfo` to write integer keys and references as texts: JavaScript
    /// rounds integers of more than 53 bits, and random keys have 63. Texts are read in any case.
    ///
    /// ```swift
    /// encoder.userInfo[.keysAsText] = true
    /// let body = try encoder.encode(bob.values)                       // {"id":"4611686018427387905",…}
    /// ```
    public static let keysAsText = CodingUserInfoKey("store.keys_as_text")

    private init(_ name: String) {
        guard let key = CodingUserInfoKey(rawValue: name) else { preconditionFailure("every text is a key") }
        self = key
    }
}

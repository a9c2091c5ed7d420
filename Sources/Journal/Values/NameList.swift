import Foundation

/// A list of names as a JSON array, as the journal's tables store it. SQLite's json_each() can read it.
package enum NameList {
    /// Returns the names as a JSON array, in their order.
    package static func encode(_ names: [String]) -> String {
        // Encoding an array of strings cannot fail.
        (try? JSONEncoder().encode(names)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
    }

    /// Returns the names in a JSON array.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` when `json` is not an array of strings.
    package static func decode(_ json: String) throws -> [String] {
        if let names = unescaped(json) { return names }
        do {
            return try JSONDecoder().decode([String].self, from: Data(json.utf8))
        } catch {
            throw JournalError(
                .corrupt, "A list of names in the journal's tables is not a JSON array of strings",
                hint: "The tables named _journal… are Tandem's own; restore the file from a peer or a backup.")
        }
    }

    /// Returns the names in a list that ``encode(_:)`` wrote, if none of them contains an escape; nil for any
    /// other text.
    ///
    /// Each journal reader decodes such lists for every shape, and a JSONDecoder would take most of its time.
    private static func unescaped(_ json: String) -> [String]? {
        var json = json
        return json.withUTF8 { bytes in
            guard bytes.count > 1, bytes.first == UInt8(ascii: "["), bytes.last == UInt8(ascii: "]") else { return nil }
            if bytes.count == 2 { return [] }
            var names: [String] = []
            // Behind the bracket, and later behind the comma: the quote that begins a name.
            var at = 1
            while at < bytes.count - 1, bytes[at] == UInt8(ascii: "\"") {
                let start = at + 1
                at = start
                while at < bytes.count, bytes[at] != UInt8(ascii: "\"") {
                    guard bytes[at] >= UInt8(ascii: " "), bytes[at] != UInt8(ascii: "\\") else { return nil }
                    at += 1
                }
                guard at < bytes.count - 1 else { return nil }
                names.append(String(decoding: bytes[start..<at], as: UTF8.self))
                if at + 2 == bytes.count { return names }
                guard bytes[at + 1] == UInt8(ascii: ",") else { return nil }
                at += 2
            }
            return nil
        }
    }
}

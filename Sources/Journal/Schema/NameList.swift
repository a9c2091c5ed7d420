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
        let bytes = json.utf8
        guard bytes.first == UInt8(ascii: "["), bytes.last == UInt8(ascii: "]"),
            bytes.allSatisfy({ $0 >= UInt8(ascii: " ") && $0 != UInt8(ascii: "\\") })
        else { return nil }
        // Each quote begins or ends a name, so the parts are `[`, a name, `,`, a name, …, `]`. The text is
        // split as bytes, because a quote before a combining mark is not a Character of its own.
        let parts = bytes.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        guard parts.count > 1 else { return bytes.elementsEqual("[]".utf8) ? [] : nil }
        guard !parts.count.isMultiple(of: 2) else { return nil }
        var names: [String] = []
        for (index, part) in parts.enumerated() {
            if !index.isMultiple(of: 2) {
                names.append(String(Substring(part)))
            } else if !part.elementsEqual((index == 0 ? "[" : index == parts.count - 1 ? "]" : ",").utf8) {
                return nil
            }
        }
        return names
    }
}

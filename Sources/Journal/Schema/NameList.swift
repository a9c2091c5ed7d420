import Foundation

/// A list of names as the JSON array that the journal's own tables hold, readable with SQLite's json_each().
public enum NameList {
    /// The JSON of the names, in their order.
    public static func encode(_ names: [String]) -> String {
        // Encoding an array of strings cannot fail.
        (try? JSONEncoder().encode(names)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
    }

    /// - Throws: ``JournalError/Code/corrupt`` when `json` is not an array of strings.
    public static func decode(_ json: String) throws -> [String] {
        if let names = unescaped(json) { return names }
        do {
            return try JSONDecoder().decode([String].self, from: Data(json.utf8))
        } catch {
            throw JournalError(
                .corrupt, "a list of names in the journal's tables is not a JSON array of strings",
                hint: "The tables named _journal… are Tandem's own; restore the file from a peer or a backup.")
        }
    }

    /// The names in a list as ``encode(_:)`` writes it, if nothing in it is escaped; nil for any other text.
    ///
    /// Each reader of a journal reads such lists for each table, and a JSONDecoder takes most of its time for them.
    private static func unescaped(_ json: String) -> [String]? {
        let bytes = json.utf8
        guard bytes.first == UInt8(ascii: "["), bytes.last == UInt8(ascii: "]"),
            bytes.allSatisfy({ $0 >= UInt8(ascii: " ") && $0 != UInt8(ascii: "\\") })
        else { return nil }
        // Every quote begins or ends a name: [, name, comma, name, ]. Of bytes: a quote before a combining mark is no Character.
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

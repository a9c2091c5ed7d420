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
        do {
            return try JSONDecoder().decode([String].self, from: Data(json.utf8))
        } catch {
            throw JournalError(
                .corrupt, "a list of names in the journal's tables is not a JSON array of strings",
                hint: "The tables named _journal… are Tandem's own; restore the file from a peer or a backup.")
        }
    }
}

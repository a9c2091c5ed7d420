import Journal

/// A primary key as typed on the command line: the value of a single key column, or a JSON array of all key
/// values.
struct KeyPattern: Sendable {
    let text: String

    func matches(_ key: some Sequence<JSONValue>) -> Bool {
        let values = Array(key)
        if JSONValue.array(values).text == compact { return true }
        guard values.count == 1, let value = values.first else { return false }
        if case .string(let string) = value, string == text { return true }
        return value.text == text
    }

    /// `[1, "a"]` as ``JSON`` writes it, without spaces between elements. Spaces inside strings stay.
    private var compact: String {
        var out = ""
        var inString = false
        var escaped = false
        for character in text {
            if inString {
                out.append(character)
                inString = character != "\"" || escaped
                escaped = character == "\\" && !escaped
            } else if !character.isWhitespace {
                out.append(character)
                inString = character == "\""
            }
        }
        return out
    }
}

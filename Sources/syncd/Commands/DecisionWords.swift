import ArgumentParser

/// The words of a command that lists things or decides about them by their numbers: `DB`, `DB restore 1 2`
/// and `restore DB 1 2`.
struct DecisionWords<Action> where Action: RawRepresentable<String>, Action: CaseIterable {
    let path: String
    /// nil for the list.
    let action: Action?
    let ids: [Int64]

    /// - Parameters:
    ///   - path: The first word.
    ///   - words: The others.
    ///   - thing: What a number names, for messages, such as `conflict`.
    /// - Throws: `ValidationError` for other words.
    init(path: String, words: [String], thing: String) throws {
        var words = words
        guard !words.isEmpty else {
            (self.path, action, ids) = (path, nil, [])
            return
        }
        let word: String
        if Action(rawValue: path) != nil, Action(rawValue: words[0]) == nil {
            word = path
            self.path = words.removeFirst()
        } else {
            word = words.removeFirst()
            self.path = path
        }
        guard let action = Action(rawValue: word) else {
            let names = Action.allCases.map(\.rawValue)
            let list = names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
            throw ValidationError("After the database comes \(list), not '\(word)'.")
        }
        self.action = action
        ids = try words.map { word in
            guard let id = Int64(word), id > 0 else {
                throw ValidationError("'\(word)' is not the number of a \(thing).")
            }
            return id
        }
    }
}

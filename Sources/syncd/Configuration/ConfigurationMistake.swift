/// A position in a configuration file, both numbers from 1.
struct ConfigurationPlace: Sendable, Hashable {
    let line: Int
    let column: Int
}

/// One thing that is wrong with a configuration, and what to do about it.
struct ConfigurationMistake: Sendable, Hashable {
    /// nil for what the file lacks, and for a setting of a flag.
    let place: ConfigurationPlace?
    /// The name of the key; nil when the mistake is not about one key.
    let key: String?
    /// Without a full stop.
    let message: String
    let hint: String

    init(_ message: String, hint: String, key: String? = nil, at place: ConfigurationPlace?) {
        self.place = place
        self.key = key
        self.message = message
        self.hint = hint
    }
}

/// The mistakes of a configuration, by which it cannot be used: at least one, in the order of the file.
struct ConfigurationMistakes: Error, Sendable, Hashable {
    /// nil when there are flags only.
    let file: String?
    let all: [ConfigurationMistake]
    private let first: ConfigurationMistake

    /// - Returns: nil when there is no mistake.
    init?(_ mistakes: [ConfigurationMistake], in file: String?) {
        let places = mistakes.enumerated().sorted { first, second in
            // What has no place comes last. The sort keeps the order of what has the same place.
            let (a, b) = (first.element.place?.line ?? .max, second.element.place?.line ?? .max)
            return a == b ? first.offset < second.offset : a < b
        }
        guard let first = places.first?.element else { return nil }
        self.file = file
        self.first = first
        all = places.map(\.element)
    }

    /// The first mistake, and how many more there are.
    var failure: Failure {
        var message = first.message
        if let file, let place = first.place {
            message = "The configuration file \(file) has a mistake in line \(place.line): \(first.message)"
        }
        guard all.count > 1, let file else { return Failure(message, hint: first.hint) }
        return Failure(
            message, hint: "\(first.hint). `syncd config check \(file)` lists \(all.count - 1) more")
    }
}

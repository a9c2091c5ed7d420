/// The file that `syncd config --example` prints: each key with its meaning.
enum ConfigurationExample {
    static var text: String {
        var lines = [
            "# The configuration of `syncd run --config FILE`, in YAML. JSON is YAML, too.",
            "# `syncd config check FILE` lists every mistake. Keys behind a # have defaults or are not needed.",
        ]
        for key in ConfigurationKey.allCases {
            lines.append("")
            lines += ConfigurationExample.wrapped(key.sentence).map { "# " + $0 }
            lines += key.example.map { key.isSetInExample ? $0 : "#" + $0 }
        }
        return lines.joined(separator: "\n")
    }

    /// Breaks `sentence` into lines of at most 100 characters.
    private static func wrapped(_ sentence: String) -> [String] {
        sentence.split(separator: " ").reduce(into: [String]()) { lines, word in
            if let last = lines.last, last.count + 1 + word.count <= 100 {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(String(word))
            }
        }
    }
}

import ArgumentParser
import Journal

/// `--collation` of `init` and `check`.
struct CollationOption: ParsableArguments {
    @Option(
        name: .customLong("collation"), parsing: .singleValue,
        help: ArgumentHelp(
            "A collation of the program that orders text as a known one does: NAME=nocase, rtrim, binary or unicode (the case of all letters is ignored). NAME= takes it back. May be given several times.",
            valueName: "name=known"))
    var collations: [CollationArgument] = []

    /// The request with this option.
    func request(_ request: InitializeRequest) -> InitializeRequest {
        var request = request
        request.collations = collations.map { (name: $0.name, target: $0.target) }
        return request
    }
}

/// `NAME=KNOWN` on the command line. Without a known collation, it takes the map of NAME back.
struct CollationArgument: ExpressibleByArgument {
    let name: String
    /// nil to take it back.
    let target: KeyCollation?

    init?(argument: String) {
        guard let equals = argument.lastIndex(of: "="), equals > argument.startIndex else { return nil }
        name = String(argument[..<equals])
        let word = String(argument[argument.index(after: equals)...])
        target = KeyCollation(word: word)
        guard word.isEmpty || target != nil else { return nil }
    }
}

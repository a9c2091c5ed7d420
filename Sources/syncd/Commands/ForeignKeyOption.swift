import ArgumentParser
import Journal

/// `--foreign-keys` of `init` and `check`.
struct ForeignKeyOption: ParsableArguments {
    @Option(
        name: .customLong("foreign-keys"),
        help: ArgumentHelp(
            "What merging does with a row whose parent is missing: keep shows it as its program wrote it (default of a new replica); enforce holds it until the parent is there. The same on every machine.",
            valueName: "keep|enforce"))
    var rule: ForeignKeyRule?

    /// The request with this option. The file belongs to its program, which may not enforce foreign keys, so
    /// a new replica keeps rows where they are.
    func request(_ request: InitializeRequest) -> InitializeRequest {
        var request = request
        request.foreignKeys = rule
        request.foreignKeysOfNew = .keep
        return request
    }
}

extension ForeignKeyRule: ExpressibleByArgument {}

extension ForeignKeyRule {
    /// What `init` says of the rule.
    ///
    /// - Parameter tables: How many tracked tables have foreign keys; without any, there is nothing to say.
    func lines(for tables: Int) -> [String] {
        guard tables > 0 else { return [] }
        let count = ConsoleText.count(tables, "table has", "tables have")
        switch self {
        case .keep:
            return [
                "\(count) foreign keys: rows without their parent stay visible (keep). For a program that enforces foreign keys: --foreign-keys enforce."
            ]
        case .enforce: return ["\(count) foreign keys: rows without their parent are held until it is there (enforce)."]
        }
    }
}

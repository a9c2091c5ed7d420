import ArgumentParser
import Foundation
import Journal

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Make a token for a peer, a program or a person, and add it to the file of tokens.",
        discussion: """
            Prints the token, and nothing else: it is not kept anywhere. The file gets its SHA-256. A name may have two tokens, \
            so that the old one is valid until all have the new one; remove its line then. A running daemon takes the file \
            over at a reload.

            With --table, a peer can get and send the changes of these tables only. It begins with `syncd clone` and the \
            token, which gives it a leaf: a file with these tables, from which nobody can get anything.

            Exit status: 0 success, 1 failure, 64 wrong use.
            """)

    @Argument(help: "Whose token it is: a word, for your eyes.")
    var name: String

    @Option(
        name: .customLong("scope"), parsing: .singleValue,
        help: ArgumentHelp(
            "What it may be used for: replicate, read or admin, which includes read; may be given several times."))
    var scopes: [TokenScope] = []

    @Option(
        name: .customLong("table"), parsing: .singleValue,
        help: ArgumentHelp(
            "Limit it to this table; may be given several times. Only for the scopes replicate, pull and push.",
            valueName: "table"))
    var tables: [String] = []

    @Option(
        help: ArgumentHelp("The file to add it to; created when it is missing.", valueName: "file"),
        completion: .file())
    var tokens: String

    @Flag(help: "One JSON object.")
    var json = false

    func validate() throws {
        guard AccessTokens.isName(name) else {
            throw ValidationError("A name is a word of at most \(AccessTokens.nameLength) ASCII characters.")
        }
        guard !scopes.isEmpty else { throw ValidationError("Give at least one --scope: \(AccessTokens.scopeNames).") }
        guard Set(scopes).count == scopes.count else { throw ValidationError("A scope is given twice.") }
        guard tables.allSatisfy(AccessTokens.isTable) else {
            throw ValidationError(
                "The file of tokens cannot hold a table whose name is empty or has a blank or a comma.")
        }
        guard tables.isEmpty || Set(scopes).isSubset(of: AccessTokens.limitable) else {
            throw ValidationError("--table is for the scopes replicate, pull and push: others show all tables.")
        }
    }

    func run() throws {
        guard let token = Token.random() else { throw ExitCode.failure }
        try TokensFile(path: tokens).add(AccessTokens.line(name, scopes, token, tables: TableScope(tables)))
        guard json else { return Console.line(token.secret) }
        let object: JSONValue = .object([
            "name": .string(name),
            "scopes": .array(scopes.map { .string($0.rawValue) }),
            "tables": tables.isEmpty ? .null : .array(tables.map { .string($0) }),
            "token": .string(token.secret),
            "tokens": .string(tokens),
        ])
        Console.line(object.text)
    }
}

extension TokenScope: ExpressibleByArgument {}

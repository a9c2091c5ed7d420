import GRDB
import Journal

/// A function, written in Swift, that SQL can call on every connection of a database
/// (``Database/Options/functions``).
///
/// Other programs do not have it. Do not use it in triggers, indexes, CHECK constraints and generated columns
/// of a file that other programs open.
///
/// ```swift
/// let distance = SQLFunction("distance", argumentCount: 2) { values in
///     .real(abs(try Double(columnValue: values[0]) - Double(columnValue: values[1])))
/// }
/// ```
public struct SQLFunction: Sendable {
    /// The name in SQL; SQLite ignores the case of its letters.
    public let name: String
    let function: DatabaseFunction
    private let argumentCount: Int?

    /// Creates a function; the options of a database register it.
    ///
    /// - Parameters:
    ///   - name: The name in SQL. It replaces a built-in function of the same name and number of arguments.
    ///   - argumentCount: 0...127 (https://sqlite.org/limits.html#max_function_arg); nil for any number.
    ///   - isDeterministic: True when equal arguments always give equal results; SQLite then calls the
    ///     function less often.
    ///   - body: Receives the arguments. It may be called on several threads at once. An error that it throws
    ///     fails the statement, with the error's description.
    public init(
        _ name: String, argumentCount: Int? = nil, isDeterministic: Bool = true,
        _ body: @escaping @Sendable ([Value]) throws -> Value
    ) {
        self.name = name
        self.argumentCount = argumentCount
        function = DatabaseFunction(name, argumentCount: argumentCount, pure: isDeterministic) { arguments in
            try body(arguments.map { Value($0) }).databaseValue
        }
    }

    /// Throws `invalidInput` for a name or an argument count that SQLite refuses
    /// (https://sqlite.org/c3ref/create_function.html): GRDB ends the program when a registration fails.
    func check() throws {
        guard (0...127).contains(argumentCount ?? 0), (1...255).contains(name.utf8.count) else {
            throw StoreError(
                .invalidInput, "The SQL function \(name.prefix(64)) cannot be registered",
                hint: "Its name has 1 to 255 bytes, and it takes 0 to 127 arguments, or any number with nil.")
        }
    }
}

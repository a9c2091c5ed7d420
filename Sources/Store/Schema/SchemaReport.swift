/// What opening a database did to its schema: ``Database/schemaReport``.
///
/// ```swift
/// let db = try Database(path: path) { $0.automatic(Person.self) }
/// for step in db.schemaReport.notDone { print(step) }   // "Person.nick: kept: the model has no such column. Allow .dropColumns …"
/// ```
public struct SchemaReport: Sendable, Hashable {
    /// A step that was taken.
    public struct Step: Sendable, Hashable {
        public enum Action: Sendable, Hashable {
            case createdTable
            case renamedTable(from: String)
            case addedColumn(String)
            case renamedColumn(from: String, to: String)
            case droppedColumn(String)
            /// The table was made anew with its rows; the reason says for what.
            case rebuilt(reason: String)
            case createdIndex(String)
            case droppedIndex(String)
            case createdTextIndex(String)
            case droppedTextIndex(String)
            /// Rows that did not fit the model were deleted.
            case deletedRows(Int)
        }

        public let table: String
        public let action: Action

        public init(table: String, action: Action) {
            self.table = table
            self.action = action
        }
    }

    /// A difference between a model and its table that was left as it is.
    public struct Refusal: Sendable, Hashable, CustomStringConvertible {
        public let table: String
        public let column: String?
        /// What differs, and what follows from it.
        public let reason: String
        /// What would end the difference.
        public let remedy: String

        public var description: String {
            "\(column.map { "\(table).\($0)" } ?? table): \(reason). \(remedy)"
        }
    }

    /// The version before and after, when versions are declared.
    public internal(set) var previousVersion: Int?
    public internal(set) var version: Int?
    public internal(set) var done: [Step] = []
    public internal(set) var notDone: [Refusal] = []

    public init() {}

    mutating func did(_ action: Step.Action, _ table: String) { done.append(Step(table: table, action: action)) }
}

/// What opening a database did to its schema: ``Database/schemaReport``.
///
/// ```swift
/// let db = try Database(path: path) { $0.automatic(Person.self) }
/// for step in db.schemaReport.notDone { print(step) }   // "Person.nick: kept: the model has no such column. Allow .dropColumns …"
/// ```
public struct SchemaReport: Sendable, Hashable {
    /// A step that was taken.
    public struct Step: Sendable, Hashable {
        /// What was done to the table of the step.
        public enum Action: Sendable, Hashable {
            /// The table was made.
            case createdTable
            /// The table had another name.
            case renamedTable(from: String)
            /// A column was added, with the property's initial value in the rows that were there.
            case addedColumn(String)
            /// A column got another name; its values stayed.
            case renamedColumn(from: String, to: String)
            /// A column was dropped, with its values.
            case droppedColumn(String)
            /// The table was made anew with its rows; the reason says for what.
            case rebuilt(reason: String)
            /// The index of this name was made.
            case createdIndex(String)
            /// The index of this name was dropped: the model no longer declares it, or its column went.
            case droppedIndex(String)
            /// The full-text index of this name was made, or made anew.
            case createdTextIndex(String)
            /// The full-text index of this name was dropped: the model no longer declares it as it was.
            case droppedTextIndex(String)
            /// Rows that did not fit the model were deleted.
            case deletedRows(Int)
        }

        /// The table's name after the step.
        public let table: String
        /// What was done.
        public let action: Action

        /// A step to compare with those of a report.
        public init(table: String, action: Action) {
            self.table = table
            self.action = action
        }
    }

    /// A difference between a model and its table that was left as it is.
    public struct Refusal: Sendable, Hashable, CustomStringConvertible {
        /// The table's name.
        public let table: String
        /// The column that differs; nil when it is the table as a whole.
        public let column: String?
        /// What differs, and what follows from it.
        public let reason: String
        /// What would end the difference.
        public let remedy: String

        public var description: String {
            "\(column.map { "\(table).\($0)" } ?? table): \(reason). \(remedy)"
        }
    }

    /// The schema's version in the file before it was opened, 0 for none; nil when nothing was due, or no version is
    /// declared.
    public internal(set) var previousVersion: Int?
    /// The version afterwards: the newest declared one; nil when ``previousVersion`` is.
    public internal(set) var version: Int?
    /// What automatic schemas did, in that order. The steps of versions do not tell theirs.
    public internal(set) var done: [Step] = []
    /// What automatic schemas left as it is.
    public internal(set) var notDone: [Refusal] = []

    /// A report of nothing.
    public init() {}

    mutating func did(_ action: Step.Action, _ table: String) { done.append(Step(table: table, action: action)) }
}

/// The changes that opening a database made to its schema: ``Database/schemaReport``.
///
/// ```swift
/// let db = try Database(path: path) { $0.automatic(Person.self) }
/// // "Person.nick: kept: the model has no such column. Allow .dropColumns …"
/// for step in db.schemaReport.notDone { print(step) }
/// ```
public struct SchemaReport: Sendable, Hashable {
    /// A step that was done.
    public struct Step: Sendable, Hashable {
        /// The action on the table.
        public enum Action: Sendable, Hashable {
            /// The table was created.
            case createdTable
            /// The table was renamed.
            case renamedTable(from: String)
            /// A column was added, with the property's default value in existing rows.
            case addedColumn(String)
            /// A column was renamed; its values stayed.
            case renamedColumn(from: String, to: String)
            /// A column was dropped, with its values.
            case droppedColumn(String)
            /// The table was rebuilt with its rows, for this reason.
            case rebuilt(reason: String)
            /// The index of this name was created.
            case createdIndex(String)
            /// The index of this name was dropped, because the model does not declare it or its column was
            /// dropped.
            case droppedIndex(String)
            /// The full-text index of this name was created or replaced.
            case createdTextIndex(String)
            /// The full-text index of this name was dropped, because the model does not declare it in this
            /// form.
            case droppedTextIndex(String)
            /// Rows that did not fit the model were deleted.
            case deletedRows(Int)
        }

        /// The table's name after the step.
        public let table: String
        /// What was done.
        public let action: Action

        /// Creates a step to compare with those of a report.
        public init(table: String, action: Action) {
            self.table = table
            self.action = action
        }
    }

    /// A difference between a model and its table that was left unchanged.
    public struct Refusal: Sendable, Hashable, CustomStringConvertible {
        /// The table's name.
        public let table: String
        /// The column that differs; nil when the difference concerns the whole table.
        public let column: String?
        /// The difference and its consequence.
        public let reason: String
        /// The ways to remove the difference.
        public let remedy: String

        public var description: String {
            "\(column.map { "\(table).\($0)" } ?? table): \(reason). \(remedy)"
        }
    }

    /// The schema's version in the file before it was opened, 0 for none; nil when no migration was due, or
    /// when no version is declared.
    public internal(set) var previousVersion: Int?
    /// The version afterwards, which is the newest declared one; nil when ``previousVersion`` is nil.
    public internal(set) var version: Int?
    /// The steps of automatic schemas, in order. The steps of versions are not listed.
    public internal(set) var done: [Step] = []
    /// The differences that automatic schemas left unchanged.
    public internal(set) var notDone: [Refusal] = []

    /// Creates an empty report.
    public init() {}

    mutating func did(_ action: Step.Action, _ table: String) { done.append(Step(table: table, action: action)) }
}

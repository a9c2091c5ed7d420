import Testing

@testable import StoreMacros

@Suite("Misuse of modifiers, names and types of models")
struct ModifierDiagnosticTests {
    @Test(
        "a weak or unowned property is refused",
        arguments: [
            Misuse(
                "weak var a: Person?",
                "'a' cannot be 'weak': a row holds values, not objects; refer to another row by its key, with a 'Ref'",
                column: 5, fixIt: "remove 'weak'", fixed: "var a: Person?"),
            Misuse(
                "unowned var a: Person",
                "'a' cannot be 'unowned': a row holds values, not objects; refer to another row by its key, with a 'Ref'",
                column: 5, fixIt: "remove 'unowned'", fixed: "var a: Person"),
            Misuse(
                "private unowned(unsafe) var a: Person",
                "'a' cannot be 'unowned': a row holds values, not objects; refer to another row by its key, with a 'Ref'",
                column: 13, fixIt: "remove 'unowned(unsafe)'", fixed: "private var a: Person"),
        ])
    func reference(_ misuse: Misuse) {
        misuse.expect()
        misuse.expect(in: "struct")
    }

    @Test("a property of a class needs no nonisolated(unsafe)")
    func unsafeProperty() {
        Misuse(
            "nonisolated(unsafe) var a: Int = 1",
            "'a' needs no 'nonisolated(unsafe)': a lock protects the values of a model", column: 5,
            fixIt: "remove 'nonisolated(unsafe)'", fixed: "var a: Int = 1"
        ).expect()
    }

    @Test("a constant of a struct that has a value cannot be read from a row")
    func initializedConstant() {
        Misuse(
            "let a: Int = 1", "'a' must be a 'var': its value comes from the row", column: 5, fixIt: "use 'var'",
            fixed: "var a: Int = 1"
        ).expect(in: "struct")
    }

    @Test("a property inside of '#if' is refused, at any depth", arguments: ["final class", "struct"])
    func conditional(type: String) {
        expectProblem(
            "'note' is inside '#if', and '@Model' cannot see which branch is built: declare it outside"
                + (type == "struct" ? ", or mark it '@Transient'" : ""),
            in: """
                @Model
                \(type) Person {
                    var id: Int64
                    #if DEBUG
                    func dump() {}
                    #elseif TESTING
                    #if os(Linux)
                    var note: String = ""
                    #endif
                    #endif
                }
                """, line: 8, column: 9)
    }

    @Test(
        "a name that every model has is refused, and the fix-it keeps the column's name",
        arguments: ReservedNames.ofProperties(.liveClass).sorted())
    func reserved(name: String) {
        Misuse(
            "var \(name): Int = 1",
            "'\(name)' is reserved in models; rename the property and keep the column with '@Column(\"\(name)\")'",
            column: 9, fixIt: "rename to '\(name)Value'", fixed: "@Column(\"\(name)\") var \(name)Value: Int = 1"
        ).expect()
    }

    @Test(
        "a renaming keeps the markers of the property",
        arguments: [
            Misuse(
                "@Column(\"is_new\") private var isNew: Bool = true",
                "'isNew' is reserved in models; rename the property and keep the column with '@Column(\"isNew\")'",
                column: 35, fixIt: "rename to 'isNewValue'",
                fixed: "@Column(\"is_new\") private var isNewValue: Bool = true"),
            Misuse(
                "@Column(as: Flag.self) var isNew: Bool = true",
                "'isNew' is reserved in models; rename the property and keep the column with '@Column(\"isNew\")'",
                column: 32, fixIt: "rename to 'isNewValue'",
                fixed: "@Column(\"isNew\", as: Flag.self) var isNewValue: Bool = true"),
            Misuse(
                "private var isNew: Bool = true",
                "'isNew' is reserved in models; rename the property and keep the column with '@Column(\"isNew\")'",
                column: 17, fixIt: "rename to 'isNewValue'",
                fixed: "@Column(\"isNew\") private var isNewValue: Bool = true"),
            Misuse(
                "@Transient var isNew: Bool = true", "'isNew' is reserved in models; rename it",
                column: 20, fixIt: "rename to 'isNewValue'", fixed: "@Transient var isNewValue: Bool = true"),
        ])
    func renaming(_ misuse: Misuse) {
        misuse.expect()
    }

    @Test(
        "a member that the expansion declares cannot be declared again",
        arguments: [
            Misuse(
                "var database: Int { 1 }", "'database' is reserved in models; rename it", column: 9,
                fixIt: "rename to 'databaseValue'", fixed: "var databaseValue: Int { 1 }"),
            Misuse(
                "static let schema = 1", "'schema' is reserved in models; rename it", column: 16,
                fixIt: "rename to 'schemaValue'", fixed: "static let schemaValue = 1"),
            Misuse("typealias ID = Int64", "'ID' is reserved in models; rename it", column: 15),
            Misuse("struct Columns {}", "'Columns' is reserved in models; rename it", column: 12),
        ])
    func declaredAgain(_ misuse: Misuse) {
        misuse.expect()
    }

    @Test("a struct may use the names for which nothing is generated")
    func namesOfStructs() {
        expectExpansion(
            of: """
                @Model
                struct Row {
                    @PrimaryKey var code: String
                    var id: Int64 = 0
                    @Transient weak var owner: Owner?
                    @Transient let made = 1
                    static let database = 1
                }
                """,
            to: """
                struct Row {
                    var code: String
                    var id: Int64 = 0
                    weak var owner: Owner?
                    let made = 1
                    static let database = 1
                }

                extension Row: Store.TableModel, Store.ValueModel {
                    static let schema = Store.ModelSchema(
                        table: "Row",
                        columns: [
                            Store.ColumnDescription("code", property: "code", type: "String", isOptional: false),
                            Store.ColumnDescription("id", property: "id", type: "Int64", isOptional: false),
                        ],
                        key: [0])

                    nonisolated struct Columns: Sendable {
                        let code = Store.Column<Row, String>(0)
                        let id = Store.Column<Row, Int64>(1)
                        fileprivate init() {
                        }
                    }

                    static let columns = Columns()

                    init(_row row: Store.NamedRow) throws {
                        self.code = try row.read(0)
                        if row.has(1) {
                            self.id = try row.read(1)
                        }
                    }
                }
                """)
    }
}

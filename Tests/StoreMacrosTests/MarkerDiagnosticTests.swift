import Testing

@Suite("Misuse of the markers of properties")
struct MarkerDiagnosticTests {
    @Test(
        "a marker on a member without a column is refused",
        arguments: [
            Misuse(
                "@Column(\"limit\") static var limit: Int = 1",
                "'@Column' does nothing on 'limit': a static property has no column", column: 5,
                fixIt: "remove '@Column'", fixed: "static var limit: Int = 1"),
            Misuse(
                "@JSON var label: String { \"\" }",
                "'@JSON' does nothing on 'label': a computed property has no column", column: 5,
                fixIt: "remove '@JSON'", fixed: "var label: String { \"\" }"),
            Misuse(
                "@PrimaryKey var label: String { \"\" }",
                "'@PrimaryKey' does nothing on 'label': a computed property has no column", column: 5,
                fixIt: "remove '@PrimaryKey'", fixed: "var label: String { \"\" }"),
        ])
    func withoutColumn(_ misuse: Misuse) {
        misuse.expect()
        misuse.expect(in: "struct")
    }

    @Test("a marker on a lazy property does not hide that it is lazy")
    func lazyProperty() {
        Misuse(
            "@Transient lazy var a: Int = 1", "'a' cannot be lazy; a computed property can do this work", column: 16,
            fixIt: "remove 'lazy'", fixed: "@Transient var a: Int = 1"
        ).expect()
    }

    @Test(
        "a repeated marker is refused, and the fix-it writes one with the arguments of both",
        arguments: [
            Misuse(
                "@Column(\"a\") @Column(\"b\") var a: Int = 1",
                "'a' has '@Column' twice: write it once, with all arguments", column: 18,
                fixIt: "remove '@Column'", fixed: "@Column(\"a\") var a: Int = 1"),
            Misuse(
                "@Column(\"b\") @Column(as: Cents.self) var a: Int = 1",
                "'a' has '@Column' twice: write it once, with all arguments", column: 18,
                fixIt: "write '@Column(\"b\", as: Cents.self)'", fixed: "@Column(\"b\", as: Cents.self) var a: Int = 1"),
            Misuse(
                "@JSON @JSON var a: [Int] = []",
                "'a' has '@JSON' twice: write it once, with all arguments", column: 11,
                fixIt: "remove '@JSON'", fixed: "@JSON var a: [Int] = []"),
            Misuse(
                "@PrimaryKey @PrimaryKey(.rowid) var a: Int64",
                "'a' has '@PrimaryKey' twice: write it once, with all arguments", column: 17,
                fixIt: "write '@PrimaryKey(.rowid)'", fixed: "@PrimaryKey(.rowid) var a: Int64"),
        ])
    func twice(_ misuse: Misuse) {
        misuse.expect()
        misuse.expect(in: "struct")
    }

    @Test(
        "markers that exclude each other are refused with their own messages",
        arguments: [
            Misuse(
                "@Transient @JSON var a: Int = 1", "'@Transient' and '@JSON' exclude each other", column: 16,
                fixIt: "remove '@JSON'", fixed: "@Transient var a: Int = 1"),
            Misuse(
                "@Column(\"b\") @Transient var a: Int = 1", "'@Transient' and '@Column' exclude each other", column: 5,
                fixIt: "remove '@Column'", fixed: "@Transient var a: Int = 1"),
            Misuse(
                "@Column(as: Cents.self) @JSON var a: Int = 1", "'@Column(as:)' and '@JSON' exclude each other",
                column: 29, fixIt: "remove '@JSON'", fixed: "@Column(as: Cents.self) var a: Int = 1"),
            Misuse(
                "@Column(unknown: Kind.a) @JSON var a: Kind = .a", "'@Column(unknown:)' and '@JSON' exclude each other",
                column: 30, fixIt: "remove '@JSON'", fixed: "@Column(unknown: Kind.a) var a: Kind = .a"),
        ])
    func conflicting(_ misuse: Misuse) {
        misuse.expect()
        misuse.expect(in: "struct")
    }

    @Test(
        "the name of a column must be a plain literal, not empty, and not taken",
        arguments: [
            Misuse(
                "@Column(\"\") var a: Int = 1", "the name must not be empty", column: 13, fixIt: "remove '@Column'",
                fixed: "var a: Int = 1"),
            Misuse(
                "@Column(\"\", as: Cents.self) var a: Int = 1", "the name must not be empty", column: 13,
                fixIt: "remove the empty name", fixed: "@Column(as: Cents.self) var a: Int = 1"),
            Misuse(
                "@Column(name) var a: Int = 1",
                "the name must be a plain string literal: the macro reads it when compiling", column: 13,
                fixIt: "write a literal", fixed: "@Column(<#\"name\"#>) var a: Int = 1"),
            Misuse(
                "@Column(\"ID\") var number: Int = 1", "the column 'ID' already belongs to another property",
                column: 23, fixIt: "name another column", fixed: "@Column(<#\"name\"#>) var number: Int = 1"),
        ])
    func columnName(_ misuse: Misuse) {
        misuse.expect()
        misuse.expect(in: "struct")
    }

    @Test("the name of a table must be a plain literal and not empty")
    func tableName() {
        expectProblem(
            "the name must be a plain string literal: the macro reads it when compiling",
            in: """
                @Model(table: name)
                struct Person {
                    var id: Int64
                }
                """, line: 1, column: 15, fixIt: "write a literal",
            fixed: """
                @Model(table: <#"name"#>)
                struct Person {
                    var id: Int64
                }
                """)
        expectProblem(
            "the name must not be empty",
            in: """
                @Model(table: "")
                struct Person {
                    var id: Int64
                }
                """, line: 1, column: 15, fixIt: "remove '(table: \"\")'",
            fixed: """
                @Model
                struct Person {
                    var id: Int64
                }
                """)
    }

    @Test("a marker on something other than a property is refused")
    func misplaced() {
        expectProblem(
            "'@JSON' goes on a stored property of a model",
            in: """
                struct Person {
                    @JSON
                    func name() {}
                }
                """, line: 2, column: 5, fixIt: "remove '@JSON'",
            fixed: """
                struct Person {
                    func name() {}
                }
                """)
    }

    @Test("a marker in a type that is no model is refused")
    func outsideModel() {
        expectProblem(
            "'@JSON' does nothing here: it goes on a stored property of a type that is marked with '@Model'",
            in: """
                struct Person {
                    @JSON var tags: [String] = []
                }
                """, line: 2, column: 5, fixIt: "remove '@JSON'",
            fixed: """
                struct Person {
                    var tags: [String] = []
                }
                """)
    }

    @Test("a marker in an extension, in a function or in a file is refused")
    func outsideType() {
        expectProblem(
            "'@Column' does nothing here: it goes on a stored property of a type that is marked with '@Model'",
            in: """
                extension Person {
                    @Column("full_name") var name: String { "" }
                }
                """, line: 2, column: 5, fixIt: "remove '@Column'",
            fixed: """
                extension Person {
                    var name: String { "" }
                }
                """)
        expectProblem(
            "'@PrimaryKey' does nothing here: it goes on a stored property of a type that is marked with '@Model'",
            in: """
                func make() {
                    @PrimaryKey var key: Int = 1
                }
                """, line: 2, column: 5, fixIt: "remove '@PrimaryKey'",
            fixed: """
                func make() {
                    var key: Int = 1
                }
                """)
        expectProblem(
            "'@Transient' does nothing here: it goes on a stored property of a type that is marked with '@Model'",
            in: "@Transient var cache: Int = 1", line: 1, column: 1, fixIt: "remove '@Transient'",
            fixed: "var cache: Int = 1")
    }

    @Test("'@Transient' is allowed on a member that has no column anyway")
    func transientWithoutColumn() {
        expectExpansion(
            of: """
                @Model
                struct Row {
                    var id: Int64
                    @Transient var label: String { "" }
                    @Transient static var limit: Int = 1
                }
                """,
            to: """
                struct Row {
                    var id: Int64
                    var label: String { "" }
                    static var limit: Int = 1
                }

                extension Row: Store.TableModel, Store.ValueModel {
                    static let schema = Store.ModelSchema(
                        table: "Row",
                        columns: [
                            Store.ColumnDescription("id", property: "id", type: "Int64", isOptional: false),
                        ],
                        key: [0])

                    nonisolated struct Columns: Sendable {
                        let id = Store.Column<Row, Int64>(0)
                        fileprivate init() {
                        }
                    }

                    static let columns = Columns()

                    init(_row row: Store.NamedRow) throws {
                        self.id = try row.read(0)
                    }
                }
                """)
    }

    @Test("a marker is accepted in a type that is a model in some builds only")
    func conditionalModel() {
        // assertMacroExpansion expands only code outside of '#if'.
        expectExpansion(
            of: """
                #if canImport(Store)
                @Model
                #endif
                struct Person {
                    @Column("full_name") var name: String
                }
                """,
            to: """
                #if canImport(Store)
                @Model
                #endif
                struct Person {
                    var name: String
                }
                """)
    }

    @Test("a marker inside of '#if' is refused: the macro cannot see which branch is built")
    func conditional() {
        expectProblem(
            "'tags' has attributes inside '#if', and '@Model' cannot see which branch is built: write them outside",
            in: """
                @Model
                final class Person {
                    var id: Int64
                    #if DEBUG
                    @JSON
                    #endif
                    var tags: [String] = []
                }
                """, line: 4, column: 5,
            expanded: """
                final class Person {
                    var id: Int64
                    #if DEBUG
                    @JSON
                    #endif
                    var tags: [String] = []

                    private init() {
                        preconditionFailure()
                    }
                }
                """)
    }
}

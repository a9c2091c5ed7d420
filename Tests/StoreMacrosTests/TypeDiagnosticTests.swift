import Testing

@Suite("Misuse of @Model on types")
struct TypeDiagnosticTests {
    @Test("an actor is refused, with a fix-it that makes it a class")
    func anActor() {
        expectProblem(
            "'@Model' can be attached to a final class (live objects) or a struct (values)",
            in: """
                @Model
                actor Person {
                    var id: Int64
                }
                """, line: 1, column: 1, fixIt: "use 'final class'",
            fixed: """
                @Model
                final class Person {
                    var id: Int64
                }
                """)
    }

    @Test("an open class becomes public when it becomes final")
    func anOpenClass() {
        expectProblem(
            "the model class 'Person' must be final: each row has one object of one type",
            in: """
                @Model
                open class Person {
                    var id: Int64
                }
                """, line: 2, column: 12, fixIt: "add 'final'",
            fixed: """
                @Model
                public final class Person {
                    var id: Int64
                }
                """)
    }

    @Test("a generic type cannot be a model")
    func generic() {
        expectProblem(
            "a model cannot be generic or nested in a generic type: it represents one table",
            in: """
                @Model
                struct Person<T> {
                    var id: Int64
                }
                """, line: 2, column: 14)
    }

    @Test("a type in a generic type cannot be a model")
    func insideGeneric() {
        expectProblem(
            "a model cannot be generic or nested in a generic type: it represents one table",
            in: """
                enum Page<T> {
                    @Model
                    struct Row {
                        var id: Int64
                    }
                }
                """, line: 2, column: 5)
    }

    @Test("a model that would hide the module is refused, with a fix-it that keeps its table's name")
    func namedStore() {
        expectProblem(
            "a model cannot be named 'Store', like the module: rename the type and keep the table with '@Model(table: \"Store\")'",
            in: """
                @Model
                final class Store {
                    var id: Int64
                }
                """, line: 2, column: 13, fixIt: "rename to 'StoreModel'",
            fixed: """
                @Model(table: "Store")
                final class StoreModel {
                    var id: Int64
                }
                """)
    }

    @Test(
        "a property of a type that no column stores can be made transient when it has a value",
        arguments: [
            Misuse(
                "var pair: (Int, Int) = (0, 0)",
                "'pair' cannot hold a tuple: no column stores it; declare a Codable struct and mark the property '@JSON', or mark it '@Transient'",
                column: 9, fixIt: "mark it '@Transient'", fixed: "@Transient var pair: (Int, Int) = (0, 0)"),
            Misuse(
                "var value: Any?",
                "'value' cannot hold a value of any type: no column stores it; declare a Codable struct and mark the property '@JSON', or mark it '@Transient'",
                column: 9, fixIt: "mark it '@Transient'", fixed: "@Transient var value: Any?"),
        ])
    func notAColumn(_ misuse: Misuse) {
        misuse.expect()
    }

    @Test("a model is not Codable, and the fix-it keeps its other protocols")
    func codable() {
        for (clause, fixed) in [(": Codable", ""), (": Named, Codable", ": Named"), (": Codable, Named", ": Named")] {
            expectProblem(
                "a model cannot be 'Codable': its rows are made by 'create'; encode and decode its 'Fields' instead",
                in: """
                    @Model
                    final class Person\(clause) {
                        var id: Int64
                    }
                    """, line: 2, column: clause.hasSuffix("Codable") ? 21 + clause.count - 9 : 21,
                fixIt: "remove 'Codable'",
                fixed: """
                    @Model
                    final class Person\(fixed) {
                        var id: Int64
                    }
                    """,
                expanded: """
                    final class Person\(clause) {
                        var id: Int64

                        private init() {
                            preconditionFailure()
                        }
                    }
                    """)
        }
    }

    @Test("a key is added with the indentation of the members")
    func keyInNestedType() {
        expectProblem(
            "'Person' has no primary key: name a property 'id', or mark one or several with '@PrimaryKey'",
            in: """
                enum Page {
                    @Model
                    final class Person {
                        var name: String = ""
                    }
                }
                """, line: 3, column: 17, fixIt: "add 'var id: Int64'",
            fixed: """
                enum Page {
                    @Model
                    final class Person {
                        var id: Int64
                        var name: String = ""
                    }
                }
                """,
            expanded: """
                enum Page {
                    final class Person {
                        var name: String = ""

                        private init() {
                            preconditionFailure()
                        }
                    }
                }
                """)
    }
}

import Testing

@Suite("Misuse of the model macros")
struct DiagnosticTests {
    @Test("a class that is not final is refused, with a fix-it")
    func notFinal() {
        expectProblem(
            "the model class 'Person' must be final: each row has one object of one type",
            in: """
                @Model
                class Person {
                    var id: Int64
                }
                """, line: 2, column: 7, fixIt: "add 'final'",
            fixed: """
                @Model
                final class Person {
                    var id: Int64
                }
                """)
    }

    @Test("an enum cannot be a model")
    func wrongKind() {
        expectProblem(
            "'@Model' can be attached to a final class (live objects) or a struct (values)",
            in: """
                @Model
                enum Person {
                }
                """, line: 1, column: 1)
    }

    @Test("a class without a primary key is refused, with a fix-it that adds one")
    func noKey() {
        expectProblem(
            "'Person' has no primary key: name a property 'id', or mark one or several with '@PrimaryKey'",
            in: """
                @Model
                final class Person {
                    var name: String = ""
                }
                """, line: 2, column: 13, fixIt: "add 'var id: Int64'",
            fixed: """
                @Model
                final class Person {
                    var id: Int64
                    var name: String = ""
                }
                """)
    }

    @Test("an optional primary key is refused at its type")
    func optionalKey() {
        expectProblem(
            "the primary key 'id' cannot be optional",
            in: """
                @Model
                final class Person {
                    var id: Int64?
                }
                """, line: 3, column: 13, fixIt: "remove '?'",
            fixed: """
                @Model
                final class Person {
                    var id: Int64
                }
                """)
    }

    @Test("a constant is refused at the let")
    func constant() {
        expectProblem(
            "'name' must be a 'var': its value comes from the row",
            in: """
                @Model
                final class Person {
                    var id: Int64
                    let name: String
                }
                """, line: 4, column: 5, fixIt: "use 'var'",
            fixed: """
                @Model
                final class Person {
                    var id: Int64
                    var name: String
                }
                """)
    }

    @Test("a restricted setter is refused, since the property has no setter")
    func restrictedSetter() {
        expectProblem(
            "'name' has no setter to restrict: properties of a model change only inside 'save'",
            in: """
                @Model
                final class Person {
                    var id: Int64
                    private(set) var name: String = ""
                }
                """, line: 4, column: 5, fixIt: "remove 'private(set)'",
            fixed: """
                @Model
                final class Person {
                    var id: Int64
                    var name: String = ""
                }
                """)
    }

    @Test("an implicitly unwrapped property is refused at its type")
    func implicitlyUnwrapped() {
        expectProblem(
            "'name' cannot be implicitly unwrapped: use '?' or a plain type",
            in: """
                @Model
                final class Person {
                    var id: Int64
                    var name: String!
                }
                """, line: 4, column: 15, fixIt: "use '?'",
            fixed: """
                @Model
                final class Person {
                    var id: Int64
                    var name: String?
                }
                """)
    }

    @Test(
        "a member that a model cannot have is refused at its position",
        arguments: [
            Misuse(
                "var a = 1, b = 2", "declare each property of a model with a 'var' of its own", column: 9,
                fixIt: "declare each by itself", fixed: "var a = 1\n    var b = 2"),
            Misuse(
                "private var a, b: Int", "declare each property of a model with a 'var' of its own", column: 17,
                fixIt: "declare each by itself", fixed: "private var a: Int\n    private var b: Int"),
            Misuse(
                "var (a, b) = (1, 2)", "a property of a model cannot be a tuple pattern", column: 9,
                fixIt: "declare each by itself", fixed: "var a = 1\n    var b = 2"),
            Misuse("var (a, b) = make()", "a property of a model cannot be a tuple pattern", column: 9),
            Misuse(
                "var a = make()", "write the type of 'a': it cannot be inferred from the default value here", column: 9,
                fixIt: "add a type", fixed: "var a: <#Type#> = make()"),
            Misuse(
                "lazy var a: Int = 1", "'a' cannot be lazy; a computed property can do this work", column: 5,
                fixIt: "remove 'lazy'", fixed: "var a: Int = 1"),
            Misuse(
                "var a: Int = 1 { didSet {} }", "'a' cannot have observers: listen to 'changes(in:)'", column: 20,
                fixIt: "remove the observers", fixed: "var a: Int = 1"),
            Misuse(
                "@Wrapped var a: Int = 1",
                "'a' cannot have '@Wrapped': a model stores its values itself; mark it '@Transient' and wrap it by hand",
                column: 5, fixIt: "remove '@Wrapped'", fixed: "var a: Int = 1"),
        ])
    func member(_ misuse: Misuse) {
        misuse.expect()
    }

    @Test("an initializer is refused, and the fix-it removes it with its comment")
    func initializer() {
        expectProblem(
            "a model class cannot have initializers of its own: 'create', 'find' and queries make the objects",
            in: """
                @Model
                final class Person {
                    var id: Int64
                    /// Makes a person.
                    init(id: Int64) {}
                    var name: String = ""
                }
                """, line: 5, column: 5, fixIt: "remove the initializer",
            fixed: """
                @Model
                final class Person {
                    var id: Int64
                    var name: String = ""
                }
                """)
    }

    @Test("a transient property needs a default value")
    func transient() {
        expectProblem(
            "the transient property 'a' needs a default value, because it has no column",
            in: """
                @Model
                final class Person {
                    var id: Int64
                    @Transient var a: Int
                }
                """, line: 4, column: 20, fixIt: "add a default value",
            fixed: """
                @Model
                final class Person {
                    var id: Int64
                    @Transient var a: Int = <#value#>
                }
                """)
    }
}

import Testing

@Suite("Misuse of the model macros")
struct DiagnosticTests {
    @Test("a class that is not final is told to be, with a fix-it")
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
            "'@Model' goes on a final class (live objects) or on a struct (values)",
            in: """
                @Model
                enum Person {
                }
                """, line: 1, column: 1)
    }

    @Test("a class without a primary key is offered one")
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

    @Test("[6] a key that SQLite mints must be one integer")
    func rowidKey() {
        expectProblem(
            "'code' cannot be minted by SQLite: a rowid key is one property of type Int64 or Int",
            in: """
                @Model
                final class Draft {
                    @PrimaryKey(.rowid) var code: String
                }
                """, line: 3, column: 29)
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

    @Test("a restricted setter is refused, since there is none")
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

    /// A member of a class with a key, and what is said about it.
    struct Misuse: Sendable, CustomTestStringConvertible {
        let member: String
        let message: String
        let column: Int
        let fixIt: String?
        /// The member after the fix-it.
        let fixed: String?
        var testDescription: String { member }

        init(_ member: String, _ message: String, column: Int, fixIt: String? = nil, fixed: String? = nil) {
            self.member = member
            self.message = message
            self.column = column
            self.fixIt = fixIt
            self.fixed = fixed
        }
    }

    @Test(
        "a member that a model cannot have is refused at the right place",
        arguments: [
            Misuse("var a = 1, b = 2", "declare each property of a model with a 'var' of its own", column: 9),
            Misuse("var (a, b) = (1, 2)", "a property of a model cannot be a tuple pattern", column: 9),
            Misuse(
                "var a = make()", "write the type of 'a': it cannot be told from the initial value here", column: 9,
                fixIt: "add a type", fixed: "var a: <#Type#> = make()"),
            Misuse(
                "lazy var a: Int = 1", "'a' cannot be lazy; a computed property can do this work", column: 5,
                fixIt: "remove 'lazy'", fixed: "var a: Int = 1"),
            Misuse(
                "var a: Int = 1 { didSet {} }", "'a' cannot have observers: listen to 'changes(in:)'", column: 20,
                fixIt: "remove the observers", fixed: "var a: Int = 1"),
            Misuse(
                "@Wrapped var a: Int = 1",
                "'a' cannot carry '@Wrapped': a model keeps its values itself; mark it '@Transient' and wrap it by hand",
                column: 5),
            Misuse(
                "var database: Int = 1",
                "'database' is a name that every model has already; rename the property and keep the column with '@Column(\"database\")'",
                column: 9, fixIt: "rename to 'databaseValue'", fixed: "var databaseValue: Int = 1"),
            Misuse("var ID: Int = 1", "the column 'ID' already belongs to another property", column: 9),
            Misuse(
                "init(id: Int64) {}",
                "a model class cannot have initializers of its own: objects are made by 'create', 'find' and queries",
                column: 5),
        ])
    func member(_ misuse: Misuse) {
        expectProblem(
            misuse.message,
            in: """
                @Model
                final class Person {
                    var id: Int64
                    \(misuse.member)
                }
                """, line: 4, column: misuse.column, fixIt: misuse.fixIt,
            fixed: misuse.fixed.map { fixed in
                """
                @Model
                final class Person {
                    var id: Int64
                    \(fixed)
                }
                """
            })
    }

    @Test("a transient property needs a default value")
    func transient() {
        expectProblem(
            "the transient property 'a' needs a default value: no column can give it one",
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

    @Test("markers that exclude each other are told apart")
    func conflicting() {
        expectProblem(
            "'@Transient' and '@JSON' exclude each other",
            in: """
                @Model
                final class Person {
                    var id: Int64
                    @Transient @JSON var a: Int = 1
                }
                """, line: 4, column: 16, fixIt: "remove '@JSON'",
            fixed: """
                @Model
                final class Person {
                    var id: Int64
                    @Transient var a: Int = 1
                }
                """)
    }

    @Test("the table's name must be a plain literal and not empty")
    func tableName() {
        expectProblem(
            "the name must be a plain string literal: the macro reads it when compiling",
            in: """
                @Model(table: name)
                struct Person {
                    var id: Int64
                }
                """, line: 1, column: 15)
        expectProblem(
            "the name must not be empty",
            in: """
                @Model(table: "")
                struct Person {
                    var id: Int64
                }
                """, line: 1, column: 15)
    }

    @Test("a generic type cannot be a model")
    func generic() {
        expectProblem(
            "a model cannot be generic: it stands for one table",
            in: """
                @Model
                struct Person<T> {
                    var id: Int64
                }
                """, line: 2, column: 14)
    }

    @Test("a marker on something other than a property is refused")
    func misplacedMarker() {
        expectProblem(
            "'@JSON' goes on a stored property of a model",
            in: """
                struct Person {
                    @JSON
                    func name() {}
                }
                """, line: 2, column: 5)
    }
}

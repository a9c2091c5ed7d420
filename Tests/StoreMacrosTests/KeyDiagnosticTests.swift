import Testing

@Suite("Misuse of primary keys")
struct KeyDiagnosticTests {
    @Test("[6] a key that SQLite mints must be an integer")
    func rowidOfText() {
        expectProblem(
            "'code' cannot be minted by SQLite: a rowid key is one property of type Int64 or Int",
            in: """
                @Model
                final class Draft {
                    @PrimaryKey(.rowid) var code: String
                }
                """, line: 3, column: 29, fixIt: "remove '(.rowid)'",
            fixed: """
                @Model
                final class Draft {
                    @PrimaryKey var code: String
                }
                """)
    }

    @Test("[6] a key that SQLite mints must be the whole key")
    func rowidOfSeveral() {
        expectProblem(
            "'number' cannot be minted by SQLite: a rowid key is one property of type Int64 or Int",
            in: """
                @Model
                final class Draft {
                    @PrimaryKey(.rowid) var number: Int64
                    @PrimaryKey var part: Int
                }
                """, line: 3, column: 29, fixIt: "remove '(.rowid)'",
            fixed: """
                @Model
                final class Draft {
                    @PrimaryKey var number: Int64
                    @PrimaryKey var part: Int
                }
                """)
    }

    @Test(
        "a key cannot be stored as JSON, whether it is marked or named 'id'",
        arguments: [
            ("@PrimaryKey @JSON var key: Point", "key", 17, "@PrimaryKey var key: Point"),
            ("@JSON @PrimaryKey var key: Point", "key", 5, "@PrimaryKey var key: Point"),
            ("@JSON var id: Point", "id", 5, "var id: Point"),
        ])
    func jsonKey(member: String, name: String, column: Int, fixed: String) {
        func model(_ member: String) -> String {
            """
            @Model
            final class Place {
                \(member)
            }
            """
        }
        expectProblem(
            "the primary key '\(name)' cannot be stored as JSON: one value may have several texts",
            in: model(member), line: 3, column: column, fixIt: "remove '@JSON'", fixed: model(fixed))
    }

    @Test("an optional primary key is refused in its long form too")
    func optionalKey() {
        expectProblem(
            "the primary key 'id' cannot be optional",
            in: """
                @Model
                final class Person {
                    var id: Optional<Int64>
                }
                """, line: 3, column: 13, fixIt: "remove 'Optional'",
            fixed: """
                @Model
                final class Person {
                    var id: Int64
                }
                """)
    }

    @Test("an 'id' beside the key is refused, and keeps its column under another name")
    func idBesideKey() {
        expectProblem(
            "'id' is the whole primary key of every model, here 'code'; rename the property and keep the column with '@Column(\"id\")'",
            in: """
                @Model
                final class Country {
                    @PrimaryKey var code: String
                    var id: Int64 = 0
                }
                """, line: 4, column: 9, fixIt: "rename to 'idValue'",
            fixed: """
                @Model
                final class Country {
                    @PrimaryKey var code: String
                    @Column("id") var idValue: Int64 = 0
                }
                """)
    }

    @Test("an 'id' that is a part of the key is refused")
    func idInKey() {
        expectProblem(
            "'id' is the whole primary key of every model, here 'tenant' and 'id'; rename the property and keep the column with '@Column(\"id\")'",
            in: """
                @Model
                final class Account {
                    @PrimaryKey var tenant: Int64
                    @PrimaryKey var id: Int64
                }
                """, line: 4, column: 21, fixIt: "rename to 'idValue'",
            fixed: """
                @Model
                final class Account {
                    @PrimaryKey var tenant: Int64
                    @PrimaryKey @Column("id") var idValue: Int64
                }
                """)
    }

    @Test(
        "an 'id' without a column is refused beside the key",
        arguments: [
            ("var id: String { code }", 9, "var idValue: String { code }"),
            ("@Transient var id: Int = 0", 20, "@Transient var idValue: Int = 0"),
        ])
    func idWithoutColumn(member: String, column: Int, fixed: String) {
        func model(_ member: String) -> String {
            """
            @Model
            final class Country {
                @PrimaryKey var code: String
                \(member)
            }
            """
        }
        expectProblem(
            "'id' is the whole primary key of every model, here 'code'; rename it",
            in: model(member), line: 4, column: column, fixIt: "rename to 'idValue'", fixed: model(fixed))
    }

    @Test("no second 'id' is offered to a class whose 'id' is computed")
    func noKey() {
        expectProblem(
            "'Person' has no primary key: name a property 'id', or mark one or several with '@PrimaryKey'",
            in: """
                @Model
                final class Person {
                    var name: String = ""
                    var id: String { name }
                }
                """, line: 2, column: 13)
    }

    @Test("a part of a key cannot have the name of a member of every key")
    func reservedPart() {
        expectProblem(
            "'exact' is a name that every composite key has already; rename the property and keep the column with '@Column(\"exact\")'",
            in: """
                @Model
                final class Match {
                    @PrimaryKey var exact: Int64
                    @PrimaryKey var other: Int64
                }
                """, line: 3, column: 21, fixIt: "rename to 'exactValue'",
            fixed: """
                @Model
                final class Match {
                    @PrimaryKey @Column("exact") var exactValue: Int64
                    @PrimaryKey var other: Int64
                }
                """)
    }
}

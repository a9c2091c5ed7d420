import Testing

@Suite("Expansion of the model macros")
struct ExpansionTests {
    @Test("a struct reads its row by column names; defaults stay where a column is missing")
    func value() {
        expectExpansion(
            of: """
                @Model(table: "people")
                public struct Row {
                    let id: Int64
                    @Column("full_name") var name: String = ""
                    let age: Int?
                    @JSON var tags: [String]?
                    static let limit = 3
                    var label: String { name }
                }
                """,
            to: """
                public struct Row {
                    let id: Int64
                    var name: String = ""
                    let age: Int?
                    var tags: [String]?
                    static let limit = 3
                    var label: String { name }
                }

                extension Row: Store.TableModel, Store.ValueModel {
                    public static let schema = Store.ModelSchema(
                        table: "people",
                        columns: [
                            Store.ColumnDescription("id", property: "id", type: "Int64", isOptional: false),
                            Store.ColumnDescription("full_name", property: "name", type: "String", isOptional: false),
                            Store.ColumnDescription("age", property: "age", type: "Int?", isOptional: true),
                            Store.ColumnDescription("tags", property: "tags", type: "[String]?", isOptional: true),
                        ],
                        key: [0])

                    nonisolated public struct Columns: Sendable {
                        let id = Store.Column<Row, Int64>(0)
                        let name = Store.Column<Row, String>(1)
                        let age = Store.Column<Row, Int?>(2)
                        #sourceLocation(file: "test.swift", line: 6)
                        let tags = Store.PropertyType.column(\\Row.tags).init(3, as: Store.StoredAsOptionalJSON.self)
                        #sourceLocation()
                        fileprivate init() {
                        }
                    }

                    public static let columns = Columns()

                    public init(_row row: Store.NamedRow) throws {
                        self.id = try row.read(0)
                        if row.has(1) {
                            self.name = try row.read(1)
                        }
                        self.age = row.has(2) ? try row.read(2) : nil
                        if row.has(3) {
                            self.tags = try row.read(3, as: Store.StoredAsOptionalJSON.self)
                        }
                    }
                }
                """)
    }

    @Test("a case for unknown values makes a coding beside the columns")
    func unknownCase() {
        expectExpansion(
            of: """
                @Model
                struct Row {
                    @Column("state", unknown: Kind.plain) var kind: Kind?
                }
                """,
            to: """
                struct Row {
                    var kind: Kind?
                }

                extension Row: Store.TableModel, Store.ValueModel {
                    static let schema = Store.ModelSchema(
                        table: "Row",
                        columns: [
                            Store.ColumnDescription("state", property: "kind", type: "Kind?", isOptional: true),
                        ],
                        key: [])

                    nonisolated struct Columns: Sendable {
                        #sourceLocation(file: "test.swift", line: 3)
                            let kind = Store.PropertyType.column(\\Row.kind).init(0, as: Store.OptionalCoding<Columns._unknown_kind>.self)
                        #sourceLocation()
                            fileprivate init() {
                        }
                            enum _unknown_kind: Store.UnknownCaseCoding {
                                typealias Property = Kind
                                static var unknown: Property {
                                    #sourceLocation(file: "test.swift", line: 3)
                                                Kind.plain
                                    #sourceLocation()
                                }
                            }
                    }

                    static let columns = Columns()

                    init(_row row: Store.NamedRow) throws {
                        if row.has(0) {
                            self.kind = try row.read(0, as: Store.OptionalCoding<Columns._unknown_kind>.self)
                        }
                    }
                }
                """)
    }
}

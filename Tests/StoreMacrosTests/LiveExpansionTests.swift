import Testing

@testable import StoreMacros

@Suite("Expansion of a model class")
struct LiveExpansionTests {
    /// Every form of a property: a key, a default value, another column, a coding, a transient one, a
    /// computed one, and one named like a parameter of generated methods.
    private static let source = """
        @Model(table: "people")
        public final class Person {
            public var id: Int64
            public var name: String = ""
            @Column("created_time") var created: Date
            @JSON var tags: [String]?
            var column: Int = 0
            @Transient var isOpen: Bool = false
            var title: String { name }
        }
        """

    private static let expanded = #"""
        public final class Person {
            public var id: Int64 {
                @inline(never) get {
                    _storage.observe(self, \.id)
                    var _value: Optional<Int64> = nil
                    _look {
                        _value = $0.id
                    }
                    return _value.unsafelyUnwrapped
                }
            }
            public var name: String {
                @inline(never) get {
                    _storage.observe(self, \.name)
                    var _value: Optional<String> = nil
                    _look {
                        _value = $0.name
                    }
                    return _value.unsafelyUnwrapped
                }
            }
            var created: Date {
                @inline(never) get {
                    _storage.observe(self, \.created)
                    var _value = Store.PropertyType.none(\Fields.created)
                    _look {
                        _value = $0.created
                    }
                    return _value.unsafelyUnwrapped
                }
            }
            var tags: [String]? {
                @inline(never) get {
                    _storage.observe(self, \.tags)
                    var _value = Store.PropertyType.none(\Fields.tags)
                    _look {
                        _value = $0.tags
                    }
                    return _value.unsafelyUnwrapped
                }
            }
            var column: Int {
                @inline(never) get {
                    _storage.observe(self, \.column)
                    var _value: Optional<Int> = nil
                    _look {
                        _value = $0.column
                    }
                    return _value.unsafelyUnwrapped
                }
            }
            var isOpen: Bool {
                @inline(never) get {
                    _storage.observe(self, \.isOpen)
                    var _value: Optional<Bool> = nil
                    _look {
                        _value = $0.isOpen
                    }
                    return _value.unsafelyUnwrapped
                }
            }
            var title: String { name }

            public struct Fields: Store.ModelFields, @unchecked Sendable {
                public typealias ID = Int64
                public var id: Int64 = .columnPlaceholder {
                    didSet {
                        _unset.remove(0)
                    }
                }
                public var name: String = ""
                var created = Store.PropertyType.value(Store.ColumnSet.placeholder(), of: \Person.created) {
                    didSet {
                        _unset.remove(2)
                    }
                }
                #sourceLocation(file: "test.swift", line: 6)
                var tags = Store.PropertyType.value(nil, of: \Person.tags)
                #sourceLocation()
                var column: Int = 0
                var isOpen: Bool = false
                public private(set) var _unset = Store.ColumnSet([0, 2])
                public init() {
                }
                public init(_row row: Store.RowCursor) throws {
                    self.id = try row.read(0)
                    self.name = try row.read(1)
                    self.created = try row.read(2)
                    self.tags = try row.read(3, as: Store.StoredAsOptionalJSON.self)
                    self.column = try row.read(4)
                    _unset = Store.ColumnSet()
                }
                public var _key: ID {
                    get {
                        self.id
                    }
                    set {
                        self.id = newValue
                    }
                }
                public static func _key(of values: Store.KeyValues) throws -> ID {
                    try values.read(0)
                }
                public static func _keyValues(_ key: ID) throws -> [Store.Value] {
                    try [Store.ColumnSet.value(key)]
                }
                public static func _bindKey(_ key: ID, to statement: Store.ParameterCursor, at parameter: Int) throws {
                    try Store.ColumnSet.bind(key, to: statement, at: parameter)
                }
                public func _bind(_ column: Int, to statement: Store.ParameterCursor, at parameter: Int) throws {
                    switch column {
                    case 0:
                        try statement.bind(self.id, at: parameter)
                    case 1:
                        try statement.bind(self.name, at: parameter)
                    case 2:
                        try statement.bind(self.created, at: parameter)
                    case 3:
                        try Store.ColumnSet.bind(self.tags, to: statement, at: parameter, as: Store.StoredAsOptionalJSON.self)
                    case 4:
                        try statement.bind(self.column, at: parameter)
                    default:
                        break
                    }
                }
                public func _bindAll(to statement: Store.ParameterCursor) throws {
                    try statement.bind(self.id, at: 0)
                    try statement.bind(self.name, at: 1)
                    try statement.bind(self.created, at: 2)
                    try Store.ColumnSet.bind(self.tags, to: statement, at: 3, as: Store.StoredAsOptionalJSON.self)
                    try statement.bind(self.column, at: 4)
                }
                public func _changes(from old: Fields) -> Store.ColumnSet {
                    var changes = Store.ColumnSet()
                    if Store.ColumnSet.differ(self.id, old.id) {
                        changes.insert(0)
                    }
                    if Store.ColumnSet.differ(self.name, old.name) {
                        changes.insert(1)
                    }
                    if Store.ColumnSet.differ(self.created, old.created) {
                        changes.insert(2)
                    }
                    if Store.ColumnSet.differ(self.tags, old.tags, as: Store.StoredAsOptionalJSON.self) {
                        changes.insert(3)
                    }
                    if Store.ColumnSet.differ(self.column, old.column) {
                        changes.insert(4)
                    }
                    return changes
                }
                public mutating func _take(_ columns: Store.ColumnSet, from other: Fields) {
                    if columns.contains(0) {
                        self.id = other.id
                    }
                    if columns.contains(1) {
                        self.name = other.name
                    }
                    if columns.contains(2) {
                        self.created = other.created
                    }
                    if columns.contains(3) {
                        self.tags = other.tags
                    }
                    if columns.contains(4) {
                        self.column = other.column
                    }
                }
                public mutating func _takeTransient(from other: Fields) {
                    self.isOpen = other.isOpen
                }
                public mutating func _normalize() {
                    self.created = Store.ColumnSet.stored(self.created)
                    self.tags = Store.ColumnSet.stored(self.tags, as: Store.StoredAsOptionalJSON.self)
                }
                public static var _columns: [any Store.FieldColumn] {
                    let columns = Person.columns
                    return [columns.id, columns.name, columns.created, columns.tags, columns.column]
                }
                public func _value(_ column: Int) throws -> Store.Value {
                    switch column {
                    case 0:
                        return try Store.ColumnSet.value(self.id)
                    case 1:
                        return try Store.ColumnSet.value(self.name)
                    case 2:
                        return try Store.ColumnSet.value(self.created)
                    case 3:
                        return try Store.ColumnSet.value(self.tags, as: Store.StoredAsOptionalJSON.self)
                    case 4:
                        return try Store.ColumnSet.value(self.column)
                    default:
                        return .null
                    }
                }
                public mutating func _set(_ column: Int, to value: Store.Value) throws {
                    switch column {
                    case 0:
                        self.id = try Store.ColumnSet.decode(value)
                    case 1:
                        self.name = try Store.ColumnSet.decode(value)
                    case 2:
                        self.created = try Store.ColumnSet.decode(value)
                    case 3:
                        self.tags = try Store.ColumnSet.decode(value, as: Store.StoredAsOptionalJSON.self)
                    case 4:
                        self.column = try Store.ColumnSet.decode(value)
                    default:
                        break
                    }
                }
            }

            @available(*, unavailable, message: "objects are made by 'Person.create(in: db) { $0.… = … }'")
            init<T0, T1>(id: Optional<Int64> = nil, name: Optional<String> = nil, created: T0? = Optional<Never>.none, tags: T1? = Optional<Never>.none, column: Optional<Int> = nil, isOpen: Optional<Bool> = nil) {
                preconditionFailure("unavailable")
            }

            nonisolated public struct Columns: Sendable {
                public let id = Store.Column<Person, Int64>(0)
                public let name = Store.Column<Person, String>(1)
                let created = Store.PropertyType.column(\Person.created).init(2)
                #sourceLocation(file: "test.swift", line: 6)
                let tags = Store.PropertyType.column(\Person.tags).init(3, as: Store.StoredAsOptionalJSON.self)
                #sourceLocation()
                let column = Store.Column<Person, Int>(4)
                fileprivate init() {
                }
            }

            public static let columns = Columns()

            public typealias ID = Int64

            public static let schema = Store.ModelSchema(
                table: "people",
                columns: [
                    Store.ColumnDescription("id", property: "id", type: "Int64", isOptional: false),
                    Store.ColumnDescription("name", property: "name", type: "String", isOptional: false),
                    Store.ColumnDescription("created_time", property: "created", type: "Date", isOptional: false),
                    Store.ColumnDescription("tags", property: "tags", type: "[String]?", isOptional: true),
                    Store.ColumnDescription("column", property: "column", type: "Int", isOptional: false),
                ],
                key: [0])

            let _storage: Store.ModelStorage<Fields>

            public init(_storage: consuming Store.ModelStorage<Fields>) {
                self._storage = _storage
            }

            public static func _make(_ fields: Fields, _ start: Store.RegistrationContext) -> Person {
                Person(_storage: Store.ModelStorage(fields, start))
            }

            public static func _read(_ row: Store.RowCursor, _ start: Store.RegistrationContext) throws -> Person {
                Person(_storage: Store.ModelStorage(try Fields(_row: row), start))
            }

            public func _offer(_ other: Person, asOf position: Int64) -> Bool {
                _storage.offer(other._storage, asOf: position)
            }

            private dynamic func _look(_ body: (Fields) -> Void) {
                _storage.read(self, body)
            }

            public var _exactKey: Store.ExactKey {
                _storage.key().exact
            }

            public var _status: Store.RowStatus {
                _storage.status()
            }

            public func _withState<Result: Sendable>(
                _ body: (inout Store.ModelState<Fields>) throws -> Result
            ) rethrows -> Result {
                try _storage.withState(body)
            }

            public func _announce(_ changes: Store.ColumnSet, transients: Bool, status: Bool) {
                _storage.announceSome(self, changes, [0, 1, 4], \.id, \.name, \.column)
                if changes.contains(2) {
                    _storage.announce(self, \.created)
                }
                if changes.contains(3) {
                    _storage.announce(self, \.tags)
                }
                if transients {
                    _storage.announce(self, \.isOpen)
                }
                if status {
                    _storage.announce(self, \.rowState)
                }
                _storage.announce(self, \.values)
            }

            public func _observeValues() {
                _storage.observe(self, \.values)
            }

            public func _observeState() {
                _storage.observe(self, \.rowState)
            }

            public var _isObserved: Bool {
                _storage.isObserved
            }

            public var database: Store.Database {
                _storage.database
            }
        }

        extension Person: nonisolated Store.TableModel, nonisolated Store.Model {
        }

        @available(*, unavailable, message: "a class is a live model: read its objects with queries")
        extension Person: nonisolated Store.ValueModel {
        }
        """#

    @Test("a class keeps its values in fields behind a lock, and reads and binds them by position")
    func live() {
        expectExpansion(of: Self.source, to: Self.expanded)
    }

    @Test("each name that the expansion declares is reserved")
    func declaredNames() {
        let own: Set<String> = ["id", "name", "created", "tags", "column", "isOpen", "title"]
        let reserved = ReservedNames.ofProperties(.liveClass)
        for line in Self.expanded.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            guard
                let keyword = words.firstIndex(where: { ["var", "let", "func", "struct", "typealias"].contains($0) }),
                keyword + 1 < words.count
            else { continue }
            let name = String(words[keyword + 1].prefix { $0.isLetter || $0 == "_" })
            #expect(own.contains(name) || reserved.contains(name), "\(name)")
        }
    }
}

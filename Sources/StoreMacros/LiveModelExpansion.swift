import SwiftSyntax
import SwiftSyntaxBuilder

/// Generates the members that `@Model` adds to a class.
///
/// One struct, `Fields`, holds the values behind one lock. The struct reads and binds its columns by
/// position, directly from and to the SQLite statement: there is neither a dictionary nor Codable between a
/// row and a property.
///
/// Generated methods write `self.` before properties, because a property may have the name of a parameter,
/// such as `column` or `row`.
struct LiveModelExpansion {
    let model: ModelDeclaration
    /// The place of a property in the source, for messages of the compiler about its type.
    let place: PropertyPlace

    var members: [DeclSyntax] {
        var members: [DeclSyntax] = [DeclSyntax(stringLiteral: fields)]
        if model.keys.count > 1 { members.append(DeclSyntax(stringLiteral: compositeKey)) }
        members.append(DeclSyntax(stringLiteral: refusedInitializer))
        members.append(
            contentsOf: model.columnDeclarations(of: model.name, place).map { DeclSyntax(stringLiteral: $0) })
        members.append(contentsOf: plumbing.map { DeclSyntax(stringLiteral: $0) })
        if let check = model.statics.check(place) { members.append(DeclSyntax(stringLiteral: check)) }
        return members
    }

    private var access: String { model.access }

    /// What `Person(id: 1, name: "x")` is told. Only the model's own module sees it, because an internal property may
    /// have a type that others must not see.
    private var refusedInitializer: String {
        let taken = model.properties.filter(\.takesType)
        let generic = taken.isEmpty ? "" : "<\(taken.indices.map { "T\($0)" }.joined(separator: ", "))>"
        var place = 0
        let parameters = model.properties.map { property in
            guard property.takesType else { return "\(property.name): Optional<\(property.type)> = nil" }
            defer { place += 1 }
            return "\(property.name): T\(place)? = Optional<Never>.none"
        }
        return """
            @available(*, unavailable, message: "objects are made by '\(model.name).create(in: db) { $0.… = … }'")
            init\(generic)(\(parameters.joined(separator: ", "))) { preconditionFailure("unavailable") }
            """
    }

    // MARK: - The stored part

    private var plumbing: [String] {
        var declarations: [String] = []
        if model.keys.count == 1 {
            declarations.append("\(access)typealias ID = \(model.keyType)")
        }
        declarations.append(model.schemaDeclaration)
        declarations.append("let _storage: Store.ModelStorage<Fields>")
        declarations.append(
            """
            \(access)init(_storage: consuming Store.ModelStorage<Fields>) {
                self._storage = _storage
            }
            """)
        declarations.append(
            """
            \(access)static func _make(_ fields: Fields, _ start: Store.RegistrationContext) -> \(model.name) {
                \(model.name)(_storage: Store.ModelStorage(fields, start))
            }
            """)
        declarations.append(
            """
            \(access)static func _read(_ row: Store.RowCursor, _ start: Store.RegistrationContext) throws -> \(model.name) {
                \(model.name)(_storage: Store.ModelStorage(try Fields(_row: row), start))
            }
            """)
        declarations.append(
            """
            \(access)func _offer(_ other: \(model.name), asOf position: Int64) -> Bool {
                _storage.offer(other._storage, asOf: position)
            }
            """)
        declarations.append(
            """
            private dynamic func _look(_ body: (Fields) -> Void) {
                _storage.read(self, body)
            }
            """)
        let exact = uncheckedKey == nil ? "_storage.key().exact" : "Fields._exact(_storage.key())"
        declarations.append("\(access)var _exactKey: Store.ExactKey { \(exact) }")
        declarations.append("\(access)var _status: Store.RowStatus { _storage.status() }")
        declarations.append(
            """
            \(access)func _withState<Result: Sendable>(
                _ body: (inout Store.ModelState<Fields>) throws -> Result
            ) rethrows -> Result {
                try _storage.withState(body)
            }
            """)
        declarations.append(
            """
            \(access)func _announce(_ changes: Store.ColumnSet, transients: Bool, status: Bool) {
            \(announcements)
            \(lines(model.transients) { "    if transients { _storage.announce(self, \\.\($0.name)) }" })
                if status { _storage.announce(self, \\.rowState) }
                _storage.announce(self, \\.values)
            }
            """)
        declarations.append("\(access)func _observeValues() { _storage.observe(self, \\.values) }")
        declarations.append("\(access)func _observeState() { _storage.observe(self, \\.rowState) }")
        declarations.append("\(access)var _isObserved: Bool { _storage.isObserved }")
        declarations.append("\(access)var database: Store.Database { _storage.database }")
        if model.keys.count > 1 {
            declarations.append("\(access)var id: ID { _storage.read { $0._key } }")
        } else if model.keys[0].name.unquoted != "id" {
            declarations.append("\(access)var id: ID { _storage.read { $0.\(model.keys[0].name) } }")
        }
        return declarations
    }

    /// The statements that tell observers of changed columns.
    ///
    /// One statement serves the columns of known types, because each statement costs code. The compiler cannot infer a
    /// list in which a type is unknown.
    private var announcements: String {
        let columns = Array(model.columns.enumerated())
        let known = columns.filter { !$0.element.takesType }
        let positions = known.map { String($0.offset) }.joined(separator: ", ")
        let paths = known.map { "\\.\($0.element.name)" }.joined(separator: ", ")
        let others = columns.filter(\.element.takesType).map { column in
            "if changes.contains(\(column.offset)) { _storage.announce(self, \\.\(column.element.name)) }"
        }
        return lines(["_storage.announceSome(self, changes, [\(positions)], \(paths))"] + others) { "    \($0)" }
    }

    private var compositeKey: String {
        let names = model.keys.map(\.name)
        return """
            \(access)struct ID: Store.ModelKey {
            \(lines(model.keys) { "    \(access)var \($0.name): \($0.type)" })
                \(access)init(\(model.keys.map { "\($0.name): \($0.type)" }.joined(separator: ", "))) {
            \(lines(names) { "        self.\($0) = \($0)" })
                }
                \(access)func appendExact(to bytes: inout [UInt8]) {
            \(lines(model.keys) { "        \(appendExact($0))" })
                }
                \(access)var exact: Store.ExactKey { .bytes(exactBytes) }
                \(access)static func == (a: ID, b: ID) -> Bool { a.exact == b.exact }
                \(access)func hash(into hasher: inout Hasher) { hasher.combine(exact) }
            }
            """
    }

    // MARK: - Fields

    private var fields: String {
        let columns = Array(model.columns.enumerated())
        return """
            \(access)struct Fields: Store.ModelFields\(unchecked) {
            \(keyAlias)
            \(lines(columns) { property($0.element, at: $0.offset) })
            \(lines(model.transients, transient))
                \(access)private(set) var _unset = Store.ColumnSet(\(unset))
                \(access)init() {}
                \(access)init(_row row: Store.RowCursor) throws {
            \(lines(columns) { "        self.\($0.element.name) = try row.read(\($0.offset)\($0.element.codingArgument))" })
                    _unset = Store.ColumnSet()
                }
            \(keyMembers)
                \(access)func _bind(_ column: Int, to statement: Store.ParameterCursor, at parameter: Int) throws {
                    switch column {
            \(lines(columns) { "        case \($0.offset): \(bind($0.element, at: "parameter"))" })
                    default: break
                    }
                }
                \(access)func _bindAll(to statement: Store.ParameterCursor) throws {
            \(lines(columns) { "        \(bind($0.element, at: "\($0.offset)"))" })
                }
                \(access)func _changes(from old: Fields) -> Store.ColumnSet {
                    var changes = Store.ColumnSet()
            \(lines(columns) { "        if \(differs($0.element)) { changes.insert(\($0.offset)) }" })
                    return changes
                }
                \(access)mutating func _take(_ columns: Store.ColumnSet, from other: Fields) {
            \(lines(columns) { "        if columns.contains(\($0.offset)) { self.\($0.element.name) = other.\($0.element.name) }" })
                }
                \(access)mutating func _takeTransient(from other: Fields) {
            \(lines(model.transients) { "        self.\($0.name) = other.\($0.name)" })
                }
                \(access)mutating func _normalize() {
            \(lines(model.columns.filter(\.mayRound)) { "        self.\($0.name) = Store.ColumnSet.stored(self.\($0.name)\($0.codingArgument))" })
                }
            \(exactValues)
            }
            """
    }

    /// What a struct is marked with whose properties may have any type. Each property's ``Column``, or the check of a
    /// transient property, refuses a type that is not Sendable.
    private var unchecked: String { model.properties.contains(where: \.takesType) ? ", @unchecked Sendable" : "" }

    /// Access to single values by the position of their column, for import and export, statements as values,
    /// and schemas.
    private var exactValues: String {
        let columns = Array(model.columns.enumerated())
        let keySource = model.mintsKey ? "\n    \(access)static var _keySource: Store.KeySource { .rowid }" : ""
        return """
                \(access)static var _columns: [any Store.FieldColumn] {
                    let columns = \(model.name).columns
                    return [\(model.columns.map { "columns.\($0.name)" }.joined(separator: ", "))]
                }\(keySource)
                \(access)func _value(_ column: Int) throws -> Store.Value {
                    switch column {
            \(lines(columns) { "        case \($0.offset): return try Store.ColumnSet.value(self.\($0.element.name)\($0.element.codingArgument))" })
                    default: return .null
                    }
                }
                \(access)mutating func _set(_ column: Int, to value: Store.Value) throws {
                    switch column {
            \(lines(columns) { "        case \($0.offset): self.\($0.element.name) = try Store.ColumnSet.decode(value\($0.element.inputArgument))" })
                    default: break
                    }
                }
            """
    }

    /// The declaration of the key's type in `Fields`.
    private var keyAlias: String {
        guard model.keys.count == 1, let key = model.keys.first else {
            return "    \(access)typealias ID = \(model.name).ID"
        }
        return "    \(access)typealias ID = \(key.type)"
    }

    /// The only key, when the macro does not know that its type is one.
    private var uncheckedKey: ModelProperty? {
        model.keys.count == 1 ? model.keys.first { !$0.isKnownKey } : nil
    }

    private func appendExact(_ key: ModelProperty) -> String {
        key.isKnownKey
            ? "self.\(key.name).appendExact(to: &bytes)" : "Store.ExactKey.append(self.\(key.name), to: &bytes)"
    }

    private func property(_ property: ModelProperty, at position: Int) -> String {
        let text = stored(property, property.isRequired ? property.placeholder : property.initialValue)
        return place.mark(
            property, property.isRequired ? "\(text) { didSet { _unset.remove(\(position)) } }" : text)
    }

    private func transient(_ property: ModelProperty) -> String {
        let text = stored(property, property.initialValue)
        guard property.takesType, !property.isKnown else { return text }
        // The class's property is computed, so that nothing else asks for a type that can be shared.
        let check = place.mark(property.identifier, "    Store.PropertyType.check(\(like(property)))")
        return place.mark(property.identifier, text)
            + "\n    static func _check_\(property.name.unquoted)() {\n\(check)\n}"
    }

    /// The declaration of a property with its first value.
    private func stored(_ property: ModelProperty, _ value: String?) -> String {
        let name = "    \(property.access)var \(property.name)"
        guard property.takesType else { return "\(name): \(property.type)\(value.map { " = \($0)" } ?? "")" }
        let function = property.isMade ? "made" : "value"
        return "\(name) = Store.PropertyType.\(function)(\(value ?? "nil"), of: \(like(property)))"
    }

    /// A key path with the type of a property of the class.
    private func like(_ property: ModelProperty) -> String { "\\\(model.name).\(property.name)" }

    private var unset: String {
        let positions = model.columns.indices.filter { model.columns[$0].isRequired }
        return positions.isEmpty ? "" : "[\(positions.map(String.init).joined(separator: ", "))]"
    }

    private var keyMembers: String {
        let names = model.keys.map(\.name)
        let positions = Array(model.keys.enumerated())
        if model.keys.count == 1 {
            let key = model.keys[0]
            let unchecked =
                uncheckedKey == nil
                ? ""
                : """

                    \(access)static func _exact(_ key: ID) -> Store.ExactKey { Store.ExactKey.of(key) }
                    \(access)static func _generated() -> ID? { Store.ExactKey.generated() }
                """
            return """
                    \(access)var _key: ID {
                        get { self.\(key.name) }
                        set { self.\(key.name) = newValue }
                    }
                    \(access)static func _key(of values: Store.KeyValues) throws -> ID {
                        try values.read(0\(key.codingArgument))
                    }
                    \(access)static func _keyValues(_ key: ID) throws -> [Store.Value] {
                        try [Store.ColumnSet.value(key\(key.codingArgument))]
                    }
                    \(access)static func _bindKey(_ key: ID, to statement: Store.ParameterCursor, at parameter: Int) throws {
                        try Store.ColumnSet.bind(key, to: statement, at: parameter\(key.codingArgument))
                    }\(unchecked)
                """
        }
        return """
                \(access)var _key: ID {
                    get { ID(\(names.map { "\($0): self.\($0)" }.joined(separator: ", "))) }
                    set {
            \(lines(names) { "            self.\($0) = newValue.\($0)" })
                    }
                }
                \(access)static func _key(of values: Store.KeyValues) throws -> ID {
                    try ID(\(positions.map { "\($0.element.name): values.read(\($0.offset)\($0.element.codingArgument))" }.joined(separator: ", ")))
                }
                \(access)static func _keyValues(_ key: ID) throws -> [Store.Value] {
                    try [\(positions.map { "Store.ColumnSet.value(key.\($0.element.name)\($0.element.codingArgument))" }.joined(separator: ", "))]
                }
                \(access)static func _bindKey(_ key: ID, to statement: Store.ParameterCursor, at parameter: Int) throws {
            \(lines(positions) { "        try Store.ColumnSet.bind(key.\($0.element.name), to: statement, at: parameter + \($0.offset)\($0.element.codingArgument))" })
                }
            """
    }

    private func bind(_ property: ModelProperty, at parameter: String) -> String {
        property.isKnown
            ? "try statement.bind(self.\(property.name), at: \(parameter)\(property.codingArgument))"
            : "try Store.ColumnSet.bind(self.\(property.name), to: statement, at: \(parameter)\(property.codingArgument))"
    }

    private func differs(_ property: ModelProperty) -> String {
        "Store.ColumnSet.differ(self.\(property.name), old.\(property.name)\(property.codingArgument))"
    }
}

// A model class without `final` is refused by the macro. This compiler (6.3) aborts at a class that inherits from it
// when it does not conform to what the macro may add. So it conforms, with these members, and never runs: a program
// with such a class does not compile. See docs/decisions/0025-errors-of-models.md.

/// The values of a model class that is not final. Only generated code of programs that do not compile uses it.
public struct _NonfinalFields<ID: Hashable & Sendable>: ModelFields {
    public init() { preconditionFailure() }
    public init(_row row: RowCursor) throws { preconditionFailure() }
    public init(from decoder: any Decoder) throws { preconditionFailure() }
    public func encode(to encoder: any Encoder) throws {}
    public var description: String { "" }

    public var _key: ID {
        get { preconditionFailure() }
        set {}
    }
    public static func _exact(_ key: ID) -> ExactKey { preconditionFailure() }
    public static func _generated() -> ID? { nil }
    public static func _key(of values: KeyValues) throws -> ID { preconditionFailure() }
    public static func _bindKey(_ key: ID, to statement: ParameterCursor, at parameter: Int) throws {}
    public static func _keyValues(_ key: ID) throws -> [Value] { [] }
    public func _bind(_ column: Int, to statement: ParameterCursor, at parameter: Int) throws {}
    public func _bindAll(to statement: ParameterCursor) throws {}
    public func _changes(from old: Self) -> ColumnSet { ColumnSet() }
    public mutating func _take(_ columns: ColumnSet, from other: Self) {}
    public mutating func _takeTransient(from other: Self) {}
    public mutating func _normalize() {}
    public var _unset: ColumnSet { ColumnSet() }
    public static var _columns: [any FieldColumn] { [] }
    public static var _keySource: KeySource { preconditionFailure() }
    public func _value(_ column: Int) throws -> Value { .null }
    public mutating func _set(_ column: Int, to value: Value) throws {}
}

extension Model where Fields == _NonfinalFields<ID> {
    public static var schema: ModelSchema { preconditionFailure() }
    public static var columns: Columns { preconditionFailure() }
    public var database: Database { preconditionFailure() }
    public var id: ID { preconditionFailure() }
    public init(_storage: consuming ModelStorage<Fields>) { preconditionFailure() }
    public func _offer(_ other: Self, asOf position: Int64) -> Bool { false }
    public var _exactKey: ExactKey { preconditionFailure() }
    public var _status: RowStatus { preconditionFailure() }
    public func _withState<Result: Sendable>(
        _ body: (inout ModelState<Fields>) throws -> Result
    ) rethrows -> Result { preconditionFailure() }
    public var _isObserved: Bool { false }
    public func _observeValues() {}
    public func _observeState() {}
    public func _announce(_ changes: ColumnSet, transients: Bool, status: Bool) {}
}

import Journal

/// A property that refers to a row of another model by its key.
///
/// The reference holds the key alone, so it costs no query; the object is looked up when it is asked for, and everyone who
/// asks gets the same one.
///
/// ```swift
/// @Model
/// final class Item {
///     var id: Int64
///     var owner: Ref<Person>?
/// }
/// try item.save { $0.owner = Ref(bob) }
/// let owner = try item.related(\.owner)             // bob, without a query while someone holds him
/// let items = try bob.related(Item.self, by: \.owner).order(by: \.title).all(in: db)
/// ```
///
/// It is stored as the other model stores its key. That key is a single column.
public struct Ref<Target: Model>: Hashable, Sendable where Target.ID: ColumnValue {
    /// The key of the row that is referred to, whether there is such a row or not.
    public let id: Target.ID

    /// A reference to the row with this key. Nothing is looked up.
    public init(_ id: Target.ID) { self.id = id }
    /// A reference to the row of `object`, of whatever database: it holds the key alone.
    public init(_ object: Target) { id = object.id }

    /// The object of the row, when there is such a row.
    ///
    /// - Throws: As ``Model/fetch(_:in:)``, for this one row.
    public func find(in database: Database) throws -> Target? { try Target.find(id, in: database) }

    public static func == (a: Ref, b: Ref) -> Bool { a.id.exact == b.id.exact }
    public func hash(into hasher: inout Hasher) { hasher.combine(id.exact) }
}

extension Ref: ColumnValue {
    /// Reads the key as the other model stores it.
    ///
    /// - Throws: ``ColumnMismatch`` for a value that is no key of that model.
    public init(columnValue: Value) throws {
        id = try Target.Fields._key(of: KeyValues(values: [columnValue]))
    }

    /// The key as the other model stores it.
    ///
    /// - Throws: ``ColumnMismatch`` for a key that its coding cannot store.
    public var columnValue: Value { get throws { try Target.Fields._keyValues(id).first ?? .null } }

    /// Binds the key as the other model stores it.
    ///
    /// - Throws: As ``ParameterCursor/bind(value:at:)``.
    public func bind(to statement: ParameterCursor, at position: Int) throws {
        try Target.Fields._bindKey(id, to: statement, at: position)
    }

    /// True for two keys whose exact content differs.
    public static func differ(_ a: Ref, _ b: Ref) -> Bool { a != b }
}

extension Ref: ColumnPlaceholder where Target.ID: ColumnPlaceholder {
    /// A reference to the key type's own placeholder.
    public static var columnPlaceholder: Ref { Ref(.columnPlaceholder) }
}

extension Ref: Codable where Target.ID: Codable {
    public init(from decoder: any Decoder) throws { id = try Target.ID(from: decoder) }
    public func encode(to encoder: any Encoder) throws { try id.encode(to: encoder) }
}

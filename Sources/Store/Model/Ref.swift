import Journal

/// A property type that refers to a row of another model by its key.
///
/// The reference holds only the key, so reading it costs no query. The object is looked up on request, and
/// all callers get the same object.
///
/// ```swift
/// @Model
/// final class Item {
///     var id: Int64
///     var owner: Ref<Person>?
/// }
/// try item.save { $0.owner = Ref(bob) }
/// let owner = try item.related(\.owner)             // bob; no query when the object is in memory
/// let items = try bob.related(Item.self, by: \.owner).order(by: \.id).all(in: db)
/// ```
///
/// It is stored as the other model stores its key, which must be a single column.
public struct Ref<Target: Model>: Hashable, Sendable where Target.ID: ColumnValue {
    /// The key of the referenced row, whether or not the row exists.
    public let id: Target.ID

    /// Creates a reference to the row with this key. Nothing is looked up.
    public init(_ id: Target.ID) { self.id = id }
    /// Creates a reference to the row of `object`. Only the key is kept, so the object may belong to another
    /// database.
    public init(_ object: Target) { id = object.id }

    /// Returns the object of the row; nil when the row does not exist.
    ///
    /// - Throws: What ``Model/fetch(_:in:)`` throws, for this row.
    public func find(in database: Database) throws -> Target? { try Target.find(id, in: database) }

    public static func == (a: Ref, b: Ref) -> Bool { a.exact == b.exact }
    public func hash(into hasher: inout Hasher) { hasher.combine(exact) }
}

extension Ref: ColumnValue {
    /// Decodes the key as the other model stores it.
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
    /// - Throws: What ``ParameterCursor/bind(value:at:)`` throws.
    public func bind(to statement: ParameterCursor, at position: Int) throws {
        try Target.Fields._bindKey(id, to: statement, at: position)
    }

    /// The storage class of the other model's key.
    public static var columnStorage: ColumnStorage {
        Target.schema.key.first.map { Target.Fields._columns[$0]._storage } ?? .any
    }

    /// True for two keys whose exact content differs.
    public static func differ(_ a: Ref, _ b: Ref) -> Bool { a != b }
}

extension Ref: ColumnPlaceholder where Target.ID: ColumnPlaceholder {
    /// A reference to the placeholder of the key type.
    public static var columnPlaceholder: Ref { Ref(.columnPlaceholder) }
}

/// A reference can be a key, or a part of one: each row of the other model has one row here, or one for each value of
/// the other parts.
extension Ref: ModelKey {
    /// The content of the other model's key.
    public var exact: ExactKey { Target.Fields._exact(id) }
    /// Appends the bytes of the other model's key.
    public func appendExact(to bytes: inout [UInt8]) { exact.append(to: &bytes) }
}

extension Ref: Codable where Target.ID: Codable {
    /// Reads the key. An integer key may be a text.
    ///
    /// - Throws: What the decoder and the key's type throw.
    public init(from decoder: any Decoder) throws {
        do { id = try Target.ID(from: decoder) } catch {
            guard let text = try? decoder.singleValueContainer().decode(String.self), let number = Int64(text),
                let key = try? Target.Fields._key(of: KeyValues(values: [.integer(number)]))
            else { throw error }
            id = key
        }
    }
    /// Writes the key; an integer key as a text when the encoder's `userInfo` has `keysAsText`.
    ///
    /// - Throws: What the encoder and the key's type throw.
    public func encode(to encoder: any Encoder) throws {
        if encoder.userInfo[.keysAsText] as? Bool == true, case .integer(let key)? = try? columnValue {
            var container = encoder.singleValueContainer()
            try container.encode(String(key))
        } else {
            try id.encode(to: encoder)
        }
    }
}

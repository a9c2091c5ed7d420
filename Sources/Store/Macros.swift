@_exported import struct Journal.Checkpoint
@_exported import struct Journal.OriginID
@_exported import enum Journal.Value

/// Makes a final class a live model of one table, or makes a struct a value that rows decode into.
///
/// On a final class: there is one object per row and database. Any thread can read it; only `save` changes
/// it:
///
/// ```swift
/// @Model
/// final class Person {
///     var id: Int64
///     var name: String = ""
///     var createdTime: Date
/// }
/// let bob = try Person.create(in: db) { $0.name = "Bob"; $0.createdTime = .now }
/// try bob.save { $0.name = "Robert" }
/// ```
///
/// On a struct: a snapshot, decoded by column names from any SELECT (``Database/rows(as:_:_:)``). When the
/// SELECT lacks a column, the property takes its default value, or nil.
///
/// The property `id` is the primary key, unless properties are marked with ``PrimaryKey()``. A property's
/// type conforms to ``ColumnValue``, or the property names a coding. In a class, a property that is not
/// optional and has no default value must be set when a row is created, and its type also conforms to
/// ``ColumnPlaceholder``.
///
/// - Parameter table: The table's name; the name of the type by default.
@attached(
    member, conformances: Model, names: named(Fields), named(ID), named(Columns), named(columns), named(schema),
    named(_storage),
    named(init), named(_make), named(_read), named(_offer), named(_exactKey), named(_status),
    named(_withState), named(_announce), named(_look), named(_observeState), named(_observeValues),
    named(_isObserved), named(database), named(id), named(_checkDeclarations), named(Index),
    named(ForeignKey), named(TextIndex))
@attached(memberAttribute)
@attached(
    extension, conformances: TableModel, Model, ValueModel, names: named(schema), named(Columns), named(columns),
    named(init))
public macro Model(table: String? = nil) = #externalMacro(module: "StoreMacros", type: "ModelMacro")

/// Stores a property in a column of another name.
///
/// - Parameter name: The column's name.
@attached(peer)
public macro Column(_ name: String) = #externalMacro(module: "StoreMacros", type: "PropertyMarkerMacro")

/// Stores a property in a column of another name, with another coding of its value.
///
/// - Parameters:
///   - name: The column's name.
///   - coding: How the value is stored, such as ``DateAsMilliseconds``.
@attached(peer)
public macro Column<Coding>(_ name: String, as coding: Coding.Type) =
    #externalMacro(module: "StoreMacros", type: "PropertyMarkerMacro")

/// Stores a property with another coding of its value.
///
/// - Parameter coding: How the value is stored, such as ``DateAsMilliseconds``.
@attached(peer)
public macro Column<Coding>(as coding: Coding.Type) =
    #externalMacro(module: "StoreMacros", type: "PropertyMarkerMacro")

/// Shows a raw value that no case of the property's enum has as `value`, so that a value of a newer release
/// does not fail every read of its row.
///
/// ```swift
/// enum Status: String, ColumnValue { case draft, published }
///
/// @Model
/// final class Post {
///     var id: Int64
///     @Column(unknown: Status.draft) var status: Status = .draft
/// }
/// ```
///
/// The row keeps its value: a save writes the column only when it gives the property another case. Conditions
/// compare what is stored, so `\.status == .draft` does not find such a row. NULL, and a value of another
/// storage class, are errors as before. Input, such as JSON, must name a case.
///
/// - Parameter value: The case, with its type: `Status.draft`.
@attached(peer)
public macro Column<Case: ColumnValue & RawRepresentable>(unknown value: Case) =
    #externalMacro(module: "StoreMacros", type: "PropertyMarkerMacro") where Case.RawValue: ColumnValue

/// Stores a property in a column of another name, and shows a raw value that no case of the property's enum
/// has as `value`.
///
/// - Parameters:
///   - name: The column's name.
///   - value: The case, with its type: `Status.draft`.
@attached(peer)
public macro Column<Case: ColumnValue & RawRepresentable>(_ name: String, unknown value: Case) =
    #externalMacro(module: "StoreMacros", type: "PropertyMarkerMacro") where Case.RawValue: ColumnValue

/// Makes a property part of the primary key. Several such properties form a composite key, in the order of
/// the source.
@attached(peer)
public macro PrimaryKey() = #externalMacro(module: "StoreMacros", type: "PropertyMarkerMacro")

/// Makes an integer property the primary key, and chooses where the keys of new rows come from.
///
/// With `.rowid` SQLite generates them: the greatest key plus one. Two machines would generate the same keys
/// independently, so this is for tables that stay on this machine (``SchemaBuilder/local(_:)``). On a
/// captured table, opening throws.
///
/// ```swift
/// @Model
/// final class Draft {
///     @PrimaryKey(.rowid) var number: Int64
///     var text: String = ""
/// }
/// ```
@attached(peer)
public macro PrimaryKey(_ source: KeySource) = #externalMacro(module: "StoreMacros", type: "PropertyMarkerMacro")

/// Stores a Codable property as JSON text.
@attached(peer)
public macro JSON() = #externalMacro(module: "StoreMacros", type: "PropertyMarkerMacro")

/// Keeps a property in memory only. It needs a default value, and changes inside `save` like every other
/// property.
@attached(peer)
public macro Transient() = #externalMacro(module: "StoreMacros", type: "PropertyMarkerMacro")

/// Turns the stored properties of a model class into accessors. ``Model(table:)`` adds it; do not use it by
/// hand.
@attached(accessor)
public macro _ModelProperty() = #externalMacro(module: "StoreMacros", type: "ModelPropertyMacro")

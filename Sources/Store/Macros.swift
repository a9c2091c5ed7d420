@_exported import struct Journal.Checkpoint
@_exported import struct Journal.OriginID
@_exported import enum Journal.Value

/// Makes a final class a live model of one table, or a struct a value that rows decode into.
///
/// On a final class: one object per row and database, readable from any thread, changed only inside `save`:
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
/// On a struct: a snapshot, decoded by column names from any SELECT (``Database/rows(as:_:_:)``). A column that the SELECT
/// does not deliver leaves the property's default value, or nil.
///
/// The property `id` is the primary key, unless properties are marked with ``PrimaryKey()``. A property's type conforms to
/// ``ColumnValue``, or the property names a coding. In a class, a property that is neither optional nor has a default
/// value must be set when a row is created; its type conforms to ``ColumnPlaceholder`` too.
///
/// - Parameter table: The table's name; the type's own name when left out.
@attached(
    member, names: named(Fields), named(ID), named(Columns), named(columns), named(schema), named(_storage),
    named(init), named(_make), named(_read), named(_offer), named(_exactKey), named(_status),
    named(_withState), named(_announce), named(_observeState), named(_isObserved), named(database), named(id))
@attached(memberAttribute)
@attached(
    extension, conformances: TableModel, Model, ValueModel, names: named(schema), named(Columns), named(columns),
    named(init))
public macro Model(table: String? = nil) = #externalMacro(module: "StoreMacros", type: "ModelMacro")

/// Gives a property a column of another name.
///
/// - Parameter name: The column's name.
@attached(peer)
public macro Column(_ name: String) = #externalMacro(module: "StoreMacros", type: "PropertyMarkerMacro")

/// Gives a property a column of another name, and another way to store its value.
///
/// - Parameters:
///   - name: The column's name.
///   - coding: How the value is stored, such as ``DateAsMilliseconds``.
@attached(peer)
public macro Column<Coding: ColumnCoding>(_ name: String, as coding: Coding.Type) =
    #externalMacro(module: "StoreMacros", type: "PropertyMarkerMacro")

/// Gives a property another way to store its value.
///
/// - Parameter coding: How the value is stored, such as ``DateAsMilliseconds``.
@attached(peer)
public macro Column<Coding: ColumnCoding>(as coding: Coding.Type) =
    #externalMacro(module: "StoreMacros", type: "PropertyMarkerMacro")

/// Makes a property part of the primary key. Several together form a composite key, in the order of the source.
@attached(peer)
public macro PrimaryKey() = #externalMacro(module: "StoreMacros", type: "PropertyMarkerMacro")

/// Makes an integer property the primary key, and says who makes the keys of new rows.
///
/// `.rowid` lets SQLite mint them: the greatest key plus one. Two machines that never met would mint the same, so it is for
/// tables that stay on this machine only (``SchemaBuilder/local(_:)``); on a captured table, opening throws.
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

/// Keeps a property in memory only. It needs a default value, and changes inside `save` like every other.
@attached(peer)
public macro Transient() = #externalMacro(module: "StoreMacros", type: "PropertyMarkerMacro")

/// Added to the stored properties of a model class by ``Model(table:)``; not for use by hand.
@attached(accessor)
public macro _ModelProperty() = #externalMacro(module: "StoreMacros", type: "ModelPropertyMacro")

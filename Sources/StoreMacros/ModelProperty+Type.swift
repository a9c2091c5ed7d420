// What the macro knows of a type by its name alone.

extension ModelProperty {
    /// The types that always read back as they were stored.
    private static let exact = always.union(["Data", "UUID", "URL"])

    /// The types that exist in every file.
    private static let always: Set<String> = [
        "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Bool", "Double",
        "Float", "String",
    ]

    /// The types of which the macro knows by their names that a column can store them.
    static let standard = exact.union(["Date", "Decimal"])

    private var plainType: String { isOptional && type.hasSuffix("?") ? String(type.dropLast()) : type }

    /// False for the types that always read back as they were stored.
    var mayRound: Bool { coding != nil || !Self.exact.contains(plainType) }

    /// True for a type of which the macro knows by its name that a column can store it.
    var isKnown: Bool { coding == nil && Self.standard.contains(plainType) }

    /// True for a type of which the macro knows by its name that it is a key.
    var isKnownKey: Bool {
        ["Int", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "String", "UUID", "Data"].contains(type)
    }

    /// True when the code takes the type from the class's property, so that a type that does not exist is one error.
    ///
    /// The names of the standard library are always there. A key's type has a name in the code. A closure takes what it
    /// is from the type that is written beside it.
    var takesType: Bool { !Self.always.contains(plainType) && !isKey && !type.contains("->") }

    /// The value of a required property before it is set.
    var placeholder: String {
        isKnown && !takesType ? ".columnPlaceholder" : "Store.ColumnSet.placeholder()"
    }

    /// The value of an object whose creator sets none; nil for a property without one.
    var initialValue: String? {
        guard isMade, let initializer else { return initializer ?? (isOptional ? "nil" : nil) }
        return "{ $0.init\(initializer.dropFirst(type.count)) }"
    }

    /// True for `Date()` and the like: without an import of Foundation, the name would be one more error.
    var isMade: Bool { takesType && isKnown && initializer?.hasPrefix("\(type)(") == true }

    /// The argument that names the coding in a call; empty when the type itself is the coding.
    var codingArgument: String { coding.map { ", as: \($0).self" } ?? "" }

    /// The same for input, which may hold no unknown case: it would be stored as another one.
    var inputArgument: String { unknownCoding == nil ? codingArgument : "" }
}

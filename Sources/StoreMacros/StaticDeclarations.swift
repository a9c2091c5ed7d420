import SwiftSyntax

/// The static properties that Store reads from a model, where the syntax does not show that they have the right type.
///
/// The protocol has a property for each, so one of another type would compile, and Store would not see it. The
/// expansion calls a function with each of these, which the compiler refuses for another type.
struct StaticDeclarations {
    private let unclear: [VariableDeclSyntax]

    init(in items: MemberBlockItemListSyntax) {
        unclear = ModelMember.all(in: items).filter { !$0.isConditional }.compactMap(\.variable).filter { variable in
            guard variable.isShared, let type = Self.types[variable.firstName] else { return false }
            return !Self.isClear(variable, type)
        }
    }

    /// The names, with the type of each or of its elements.
    private static let types = [
        "indexes": "Index", "textIndexes": "TextIndex", "foreignKeys": "ForeignKey", "cachePolicy": "CachePolicy",
        "unreadableRows": "UnreadableRows",
    ]

    private static func isClear(_ variable: VariableDeclSyntax, _ type: String) -> Bool {
        guard variable.bindings.count == 1, let binding = variable.bindings.first else { return true }
        if let annotation = binding.typeAnnotation?.type.trimmedDescription {
            return [type, "[\(type)]", "Store.\(type)", "[Store.\(type)]"].contains(annotation)
        }
        let value = binding.initializer?.value
        guard let array = value?.as(ArrayExprSyntax.self) else {
            return value?.trimmedDescription.hasPrefix("\(type).") == true
        }
        return array.elements.allSatisfy {
            $0.expression.as(FunctionCallExprSyntax.self)?.calledExpression.trimmedDescription == type
        }
    }

    /// The function that checks them; nil when there is none to check.
    func check(_ place: PropertyPlace) -> String? {
        let calls = unclear.compactMap(\.identifier).map { name in
            // As an argument, the name could mean the protocol's property.
            "    let _\(name.text) = \(name.text)\n"
                + place.mark(name, "    Store.DeclaredType.\(name.text)(_\(name.text))")
        }
        return calls.isEmpty ? nil : "private static func _checkDeclarations() {\n\(calls.joined(separator: "\n"))\n}"
    }
}

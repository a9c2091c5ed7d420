import SwiftDiagnostics
import SwiftSyntax

// What a class with `@Model` cannot be besides a model, and the static members that Store reads.

extension ModelDeclaration {
    /// Reports attributes and protocols that a model class cannot have.
    static func checkClass(_ type: ClassDeclSyntax, report: (Diagnostic) -> Void) {
        for element in type.attributes {
            guard let attribute = element.as(AttributeSyntax.self) else { continue }
            switch attribute.baseName {
            case "MainActor":
                report(ModelProblem.isolated.at(attribute, fixIts: [ModelFix.removing(attribute)]))
            case "Observable":
                report(ModelProblem.observable.at(attribute, fixIts: [ModelFix.removing(attribute)]))
            default: continue
            }
        }
        for inherited in type.inheritanceClause?.inheritedTypes ?? [] {
            let name = inherited.type.trimmedDescription
            if ["Codable", "Encodable", "Decodable"].contains(name) {
                report(ModelProblem.codable(name).at(inherited.type, fixIts: [removing(inherited, of: type)]))
            }
        }
    }

    private static func removing(_ inherited: InheritedTypeSyntax, of type: ClassDeclSyntax) -> FixIt {
        let title = "remove '\(inherited.type.trimmedDescription)'"
        guard let clause = type.inheritanceClause, clause.inheritedTypes.count > 1 else {
            let range = type.name.endPositionBeforeTrailingTrivia..<inherited.endPositionBeforeTrailingTrivia
            return ModelFix.changing(title, [.replaceText(range: range, with: "", in: Syntax(type))])
        }
        var others = clause.inheritedTypes.filter { $0.id != inherited.id }
        if let last = others.indices.last { others[last].trailingComma = nil }
        let list = others.map(\.trimmedDescription).joined(separator: " ")
        let range = clause.inheritedTypes.trimmedRange
        return ModelFix.changing(title, [.replaceText(range: range, with: list, in: Syntax(clause))])
    }

    /// Reports hooks and lists that Store would not see.
    static func checkMembers(
        _ items: MemberBlockItemListSyntax, model: String, key: String, access: String, report: (Diagnostic) -> Void
    ) {
        let members = ModelMember.all(in: items)
        let functions = members.compactMap { $0.item.decl.as(FunctionDeclSyntax.self) }
        HookSignature.check(functions, model: model, key: key, access: access, report: report)
        for variable in members.compactMap(\.variable) where variable.isShared {
            checkList(variable, report: report)
        }
    }

    /// The static lists that Store reads, with the type of their elements.
    private static let lists = ["indexes": "Index", "textIndexes": "TextIndex", "foreignKeys": "ForeignKey"]

    /// Reports a static list of names: Store would use the empty list of the protocol.
    private static func checkList(_ variable: VariableDeclSyntax, report: (Diagnostic) -> Void) {
        guard let element = lists[variable.firstName], let binding = variable.bindings.first,
            let array = binding.initializer?.value.as(ArrayExprSyntax.self)
        else { return }
        for item in array.elements where item.expression.is(StringLiteralExprSyntax.self) {
            let name = item.expression.trimmedDescription
            let fixIt = ModelFix.changing(
                "write '\(element)(\(name))'", [.replacing(item.expression, with: "\(element)(\(name))")])
            report(ModelProblem.listOfNames(variable.firstName, element).at(item.expression, fixIts: [fixIt]))
        }
    }
}

extension ModelMember {
    /// Reports a list of Store that is not static, so that it would be a column.
    static func checkShared(_ variable: VariableDeclSyntax, report: (Diagnostic) -> Void) -> Bool {
        let name = variable.firstName
        guard
            let element = [
                "indexes": "Index(", "textIndexes": "TextIndex(", "foreignKeys": "ForeignKey(", "cachePolicy": ".",
                "unreadableRows": ".",
            ][name],
            variable.bindings.first?.initializer?.value.trimmedDescription.contains(element) == true
        else { return true }
        let fixIt = ModelFix.changing("add 'static'", [.inserting("static ", before: variable.bindingSpecifier)])
        report(ModelProblem.notStatic(name).at(variable.bindingSpecifier, fixIts: [fixIt]))
        return false
    }
}

extension ModelProperty {
    /// Reports a type that no column can ever hold, as far as its syntax shows it. All others are left to the
    /// compiler.
    static func checkType(
        _ type: TypeSyntax?, of variable: VariableDeclSyntax, at identifier: TokenSyntax,
        report: (Diagnostic) -> Void
    ) {
        guard let type else { return }
        let plain = type.as(OptionalTypeSyntax.self)?.wrappedType ?? type
        let inner =
            plain.as(TupleTypeSyntax.self).flatMap { $0.elements.count == 1 ? $0.elements.first?.type : nil } ?? plain
        let kind: String
        if let tuple = inner.as(TupleTypeSyntax.self) {
            kind = tuple.elements.isEmpty ? "nothing" : "a tuple"
        } else if inner.is(FunctionTypeSyntax.self) || inner.is(AttributedTypeSyntax.self) {
            kind = "a function"
        } else if inner.isExistential {
            kind = "a value of any type"
        } else if inner.as(ArrayTypeSyntax.self)?.element.isExistential == true
            || inner.as(DictionaryTypeSyntax.self)?.value.isExistential == true
        {
            kind = "values of any type"
        } else {
            return
        }
        // Without a value, a transient property would be the next mistake.
        let hasValue = variable.bindings.first?.initializer != nil || type.is(OptionalTypeSyntax.self)
        let fixIt = ModelFix.changing("mark it '@Transient'", [.inserting("@Transient ", before: variable)])
        let problem = ModelProblem.notAColumn(variable.firstName, kind)
        report(problem.at(identifier, fixIts: hasValue ? [fixIt] : []))
    }

    /// Reports a type of which the macro knows that it is no key.
    static func checkKey(_ property: ModelProperty, report: (Diagnostic) -> Void) {
        let known: Set<String> = ["Double", "Float", "Bool", "Date", "URL", "Decimal", "UInt", "UInt64"]
        let isCollection =
            property.typeNode?.is(ArrayTypeSyntax.self) == true
            || property.typeNode?.is(DictionaryTypeSyntax.self) == true || property.type.hasPrefix("Set<")
        guard property.coding == nil, known.contains(property.type) || isCollection else { return }
        let fixIts = keyOfSameValues(property).map { [$0] } ?? []
        report(ModelProblem.keyType(property.name.unquoted, property.type).at(property.identifier, fixIts: fixIts))
    }

    /// The fix-it that writes the type of key which holds the values of a type that is no key.
    private static func keyOfSameValues(_ property: ModelProperty) -> FixIt? {
        let types = ["UInt": "Int64", "UInt64": "Int64", "URL": "String"]
        guard property.initializer == nil, let type = types[property.type], let node = property.typeNode else {
            return nil
        }
        return ModelFix.changing("use '\(type)'", [.replacing(node, with: type)])
    }
}

extension TypeSyntax {
    /// True for a type whose values may have any type.
    fileprivate var isExistential: Bool {
        self.is(SomeOrAnyTypeSyntax.self) || ["Any", "AnyObject"].contains(trimmedDescription)
    }
}

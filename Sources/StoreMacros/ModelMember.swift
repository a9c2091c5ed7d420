import SwiftDiagnostics
import SwiftSyntax

/// One member of a model's body, including those inside `#if`.
struct ModelMember {
    let item: MemberBlockItemSyntax
    /// True inside `#if`: the macro runs before a branch is chosen.
    let isConditional: Bool

    static func all(in items: MemberBlockItemListSyntax, isConditional: Bool = false) -> [ModelMember] {
        items.flatMap { item -> [ModelMember] in
            guard let conditional = item.decl.as(IfConfigDeclSyntax.self) else {
                return [ModelMember(item: item, isConditional: isConditional)]
            }
            return conditional.clauses.flatMap { clause -> [ModelMember] in
                guard case .decls(let inner)? = clause.elements else { return [] }
                return all(in: inner, isConditional: true)
            }
        }
    }

    var variable: VariableDeclSyntax? { item.decl.as(VariableDeclSyntax.self) }

    /// Reports mistakes of a member that is not a stored property.
    func check(_ kind: ModelDeclaration.Kind, report: (Diagnostic) -> Void) {
        if let variable {
            checkUnstored(variable, kind, report: report)
        } else if let initializer = item.decl.as(InitializerDeclSyntax.self) {
            guard kind == .liveClass else { return }
            let fixIt = ModelFix.changing("remove the initializer", [.removing(member: item)])
            report(ModelProblem.initializer.at(initializer.initKeyword, fixIts: [fixIt]))
        } else if let name = declaredType, ReservedNames.ofTypes(kind).contains(name.text.unquoted) {
            // No fix-it: after a rename, uses of the type would silently mean the generated one.
            report(ModelProblem.reserved(name.text.unquoted, hasColumn: false).at(name))
        }
    }

    /// Reports markers on a static or computed property, and a reserved name. `@Transient` is allowed on it,
    /// because it is true.
    private func checkUnstored(
        _ variable: VariableDeclSyntax, _ kind: ModelDeclaration.Kind, report: (Diagnostic) -> Void
    ) {
        let name = variable.firstName
        for element in variable.attributes {
            guard let attribute = element.as(AttributeSyntax.self), PropertyMarkers.names.contains(attribute.baseName),
                attribute.baseName != "Transient"
            else { continue }
            let problem =
                variable.isShared
                ? ModelProblem.markerOnShared(attribute.baseName, name)
                : ModelProblem.markerOnComputed(attribute.baseName, name)
            report(problem.at(attribute, fixIts: [ModelFix.removing(attribute)]))
        }
        guard ReservedNames.ofOtherProperties(kind, isShared: variable.isShared).contains(name),
            let identifier = variable.identifier
        else { return }
        let fixIt = ModelFix.renaming(identifier, of: variable, hasColumn: false)
        report(ModelProblem.reserved(name, hasColumn: false).at(identifier, fixIts: [fixIt]))
    }

    /// The name of the type that this member declares.
    private var declaredType: TokenSyntax? {
        // A function has a name too, but declares no type.
        guard item.decl.isProtocol((any DeclGroupSyntax).self) || item.decl.is(TypeAliasDeclSyntax.self) else {
            return nil
        }
        return item.decl.asProtocol((any NamedDeclSyntax).self)?.name
    }
}

extension VariableDeclSyntax {
    /// True for a static property, which belongs to no row.
    var isShared: Bool {
        modifiers.contains { [.keyword(.static), .keyword(.class)].contains($0.name.tokenKind) }
    }

    /// True for a property that stores a value in each object.
    var isStored: Bool { !isShared && !bindings.contains(where: \.isComputed) }

    /// The name that the first binding declares; nil for a pattern.
    var identifier: TokenSyntax? { bindings.first?.pattern.as(IdentifierPatternSyntax.self)?.identifier }

    /// The name or pattern that the first binding declares, for messages.
    var firstName: String { (bindings.first?.pattern.trimmedDescription ?? "").unquoted }

    /// The attribute of this name.
    func marker(_ name: String) -> AttributeSyntax? {
        for element in attributes {
            if let attribute = element.as(AttributeSyntax.self), attribute.baseName == name { return attribute }
        }
        return nil
    }
}

extension PatternBindingSyntax {
    /// True for a property with a getter, which stores nothing. Observers do not count.
    var isComputed: Bool {
        switch accessorBlock?.accessors {
        case .getter: true
        case .accessors(let list):
            list.contains { ![.keyword(.willSet), .keyword(.didSet)].contains($0.accessorSpecifier.tokenKind) }
        case nil: false
        }
    }
}

extension AttributeSyntax {
    /// The name without a module before it: `Column` for `@Store.Column`.
    var baseName: String {
        attributeName.trimmedDescription.split(separator: ".").last.map(String.init) ?? ""
    }

    /// Returns the expression of the argument with this label; a nil label means the first argument without
    /// one.
    func argument(labeled label: String?) -> ExprSyntax? {
        arguments?.as(LabeledExprListSyntax.self)?.first { $0.label?.text == label }?.expression
    }
}

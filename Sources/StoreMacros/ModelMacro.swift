import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Model`: makes a final class a live model, and makes a struct a value that decodes from any row.
///
/// The three roles parse the declaration in the same way. Only the member role, which runs once for each
/// type, reports mistakes.
public struct ModelMacro {}

extension ModelMacro: MemberMacro {
    public static func expansion(
        of node: AttributeSyntax,
        providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        // A class that inherits from a model is one already. The compiler refuses it, because models are final.
        if declaration.is(ClassDeclSyntax.self), protocols.isEmpty {
            return RefusedModel.members(of: declaration, protocols)
        }
        guard
            let model = ModelDeclaration.parse(
                declaration, attribute: node, enclosing: context.lexicalContext, report: { context.diagnose($0) })
        else { return RefusedModel.members(of: declaration, protocols) }
        switch model.kind {
        case .liveClass: return LiveModelExpansion(model: model, place: PropertyPlace(in: context)).members
        case .value: return []
        }
    }
}

extension ModelMacro: MemberAttributeMacro {
    public static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AttributeSyntax] {
        // A declaration with a mistake is not changed, so that the mistake is the only message.
        guard
            let model = ModelDeclaration.parse(
                declaration, attribute: node, enclosing: context.lexicalContext, report: { _ in }),
            model.kind == .liveClass,
            let variable = member.as(VariableDeclSyntax.self),
            ModelProperty.parse(variable, kind: model.kind, report: { _ in }) != nil
        else { return [] }
        return ["@_ModelProperty"]
    }
}

extension ModelMacro: ExtensionMacro {
    public static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        guard
            let model = ModelDeclaration.parse(
                declaration, attribute: node, enclosing: context.lexicalContext, report: { _ in })
        else { return try RefusedModel.extensions(of: declaration, type, protocols) }
        switch model.kind {
        // As above: a class that inherits from a model conforms already.
        case .liveClass where !protocols.hasModel:
            return []
        case .liveClass:
            return [
                try ExtensionDeclSyntax(
                    "extension \(type.trimmed): nonisolated Store.TableModel, nonisolated Store.Model {}"),
                try unavailableValue(of: type),
            ]
        case .value:
            let body = ValueModelExpansion(
                model: model, type: type.trimmedDescription, place: PropertyPlace(in: context)
            ).body
            return [
                try ExtensionDeclSyntax(
                    "extension \(type.trimmed): Store.TableModel, Store.ValueModel {\n\(raw: body)\n}")
            ]
        }
    }
}

extension ModelMacro {
    /// The compiler (6.3) expects each protocol that the macro may add, and aborts at a class that inherits from one
    /// without it.
    static func unavailableValue(of type: some TypeSyntaxProtocol) throws -> ExtensionDeclSyntax {
        try ExtensionDeclSyntax(
            """
            @available(*, unavailable, message: "a class is a live model: read its objects with queries")
            extension \(type.trimmed): nonisolated Store.ValueModel {}
            """)
    }
}

extension [TypeSyntax] {
    /// True when the declaration does not conform to `Model` yet, by a class from which it inherits.
    var hasModel: Bool { contains { $0.trimmedDescription.split(separator: ".").last == "Model" } }
}

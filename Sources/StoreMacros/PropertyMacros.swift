import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Turns a stored property of a model class into a read-only view of the lock-backed fields.
///
/// There is no setter, so `person.name = "x"` does not compile: changes go through `save`.
public struct ModelPropertyMacro: AccessorMacro {
    public static func expansion(
        of node: AttributeSyntax,
        providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let variable = declaration.as(VariableDeclSyntax.self),
            let name = variable.bindings.first?.pattern.as(IdentifierPatternSyntax.self)?.identifier.trimmed
        else { return [] }
        return [
            """
            get {
                _storage.observe(self, \\.\(name))
                return _storage.read { $0.\(name) }
            }
            """
        ]
    }
}

/// The expansion of `@Column`, `@PrimaryKey`, `@JSON` and `@Transient`: nothing by itself, `@Model` reads them.
public struct PropertyMarkerMacro: PeerMacro {
    public static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        if !declaration.is(VariableDeclSyntax.self) {
            context.diagnose(ModelProblem.markerOutsideProperty(node.attributeName.trimmedDescription).at(node))
        }
        return []
    }
}

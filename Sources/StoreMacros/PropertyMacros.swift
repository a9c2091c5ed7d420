import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Turns a stored property of a model class into a read-only view of the lock-backed fields.
///
/// There is no setter, so `person.name = "x"` does not compile: changes are made by `save`.
public struct ModelPropertyMacro: AccessorMacro {
    public static func expansion(
        of node: AttributeSyntax,
        providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let variable = declaration.as(VariableDeclSyntax.self),
            let property = ModelProperty.parse(variable, kind: .liveClass, report: { _ in })
        else { return [] }
        let name = property.name
        // One function of the model takes the lock for all of its properties, so that each has little code.
        return [
            """
            @inline(never) get {
                _storage.observe(self, \\.\(raw: name))
                var _value\(raw: property.takesType ? " = Store.PropertyType.none(\\Fields.\(name))" : ": Optional<\(property.type)> = nil")
                _look { _value = $0.\(raw: name) }
                return _value.unsafelyUnwrapped
            }
            """
        ]
    }
}

/// The expansion of `@Column`, `@PrimaryKey`, `@JSON` and `@Transient`: these markers generate nothing, and
/// `@Model` reads them.
///
/// It reports a marker that no `@Model` reads. Inside a model, `@Model` itself reports mistakes of markers.
public struct PropertyMarkerMacro: PeerMacro {
    public static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let problem: ModelProblem
        if let variable = declaration.as(VariableDeclSyntax.self) {
            // A property with the accessor macro belongs to a model.
            guard variable.marker("_ModelProperty") == nil, !isModel(context.lexicalContext.first) else { return [] }
            problem = .markerOutsideModel(node.baseName)
        } else {
            problem = .markerOutsideProperty(node.baseName)
        }
        // `node` is a detached copy: only the declaration shows what follows the marker.
        let marker = declaration.asProtocol((any WithAttributesSyntax).self)?.attributes
            .compactMap { $0.as(AttributeSyntax.self) }
            .first { $0.trimmedDescription == node.trimmedDescription }
        context.diagnose(problem.at(node, fixIts: marker.map { [ModelFix.removing($0)] } ?? []))
        return []
    }

    /// True for a type with `@Model`, also inside `#if`. False for an extension of such a type, a function
    /// and a file.
    private static func isModel(_ scope: Syntax?) -> Bool {
        guard let attributes = scope?.asProtocol((any WithAttributesSyntax).self)?.attributes else { return false }
        return holdsModel(attributes)
    }

    private static func holdsModel(_ attributes: AttributeListSyntax) -> Bool {
        attributes.contains { element in
            guard let conditional = element.as(IfConfigDeclSyntax.self) else {
                return element.as(AttributeSyntax.self)?.baseName == "Model"
            }
            return conditional.clauses.contains { clause in
                guard case .attributes(let inner)? = clause.elements else { return false }
                return holdsModel(inner)
            }
        }
    }
}

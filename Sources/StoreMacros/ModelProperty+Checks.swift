import SwiftDiagnostics
import SwiftSyntax

// Features of stored properties that Swift allows and models do not.

extension ModelProperty {
    /// Reports a `let` that no row can set.
    ///
    /// In a struct, the generated initializer sets a constant, unless it has a value already.
    static func checkSpecifier(
        of variable: VariableDeclSyntax, isTransient: Bool, _ kind: ModelDeclaration.Kind, report: (Diagnostic) -> Void
    ) {
        let specifier = variable.bindingSpecifier
        guard specifier.tokenKind == .keyword(.let) else { return }
        let isInitialized = variable.bindings.first?.initializer != nil
        guard kind == .liveClass || (isInitialized && !isTransient) else { return }
        let fixIt = ModelFix.changing("use 'var'", [.replacing(specifier, with: "var")])
        report(ModelProblem.constant(variable.firstName).at(specifier, fixIts: [fixIt]))
    }

    /// Reports modifiers that a row's value cannot have.
    static func checkModifiers(
        of variable: VariableDeclSyntax, isTransient: Bool, _ kind: ModelDeclaration.Kind, report: (Diagnostic) -> Void
    ) {
        let name = variable.firstName
        for modifier in variable.modifiers {
            let problem: ModelProblem
            switch modifier.name.tokenKind {
            case .keyword(.lazy): problem = .lazyProperty(name)
            case .keyword(.weak), .keyword(.unowned):
                // Transient properties of a struct are stored exactly as declared.
                if kind == .value, isTransient { continue }
                problem = .weakProperty(name, modifier: modifier.name.text)
            // In a class, properties are computed from storage that is safe to share between threads.
            case .keyword(.nonisolated):
                if kind == .value || modifier.detail == nil { continue }
                problem = .unsafeProperty(name)
            default:
                if kind == .value || modifier.detail == nil { continue }
                problem = .restrictedSetter(name)
            }
            report(problem.at(modifier, fixIts: [ModelFix.removing(modifier)]))
        }
    }

    /// Reports `willSet` and `didSet`, which would never run, because nothing is set in the object itself.
    static func checkObservers(
        of binding: PatternBindingSyntax, _ kind: ModelDeclaration.Kind, report: (Diagnostic) -> Void
    ) {
        guard kind == .liveClass, let accessors = binding.accessorBlock else { return }
        var fixed = binding
        fixed.accessorBlock = nil
        fixed.trailingTrivia = []
        // Without this, the value would keep the space before the brace.
        fixed.initializer?.value.trailingTrivia = []
        fixed.typeAnnotation?.type.trailingTrivia = binding.initializer == nil ? [] : .space
        let name = binding.pattern.trimmedDescription.unquoted
        let fixIt = ModelFix.replacing("remove the observers", binding, by: fixed)
        report(ModelProblem.observers(name).at(accessors, fixIts: [fixIt]))
    }

    /// Reports a name that the expansion or the protocol `Model` needs.
    static func checkName(
        of variable: VariableDeclSyntax, isTransient: Bool, _ kind: ModelDeclaration.Kind, report: (Diagnostic) -> Void
    ) {
        guard let identifier = variable.identifier,
            ReservedNames.ofProperties(kind).contains(identifier.text.unquoted)
        else { return }
        let fixIt = ModelFix.renaming(identifier, of: variable, hasColumn: !isTransient)
        let problem = ModelProblem.reserved(identifier.text.unquoted, hasColumn: !isTransient)
        report(problem.at(identifier, fixIts: [fixIt]))
    }
}

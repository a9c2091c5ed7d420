import SwiftDiagnostics
import SwiftSyntax

/// One stored property of a model.
struct ModelProperty {
    /// As the source spells it, with backticks where it needs them.
    let name: String
    let type: String
    let isOptional: Bool
    let isConstant: Bool

    /// The initial value as the source spells it.
    let initializer: String?
    let column: String

    /// The type that reads and writes the column; nil when the property's own type does.
    let coding: String?
    var isKey: Bool
    /// True for a key that SQLite mints.
    let isRowid: Bool
    let isTransient: Bool

    /// The access modifier with a trailing space; empty for internal.
    let access: String

    /// Where a mistake of this property is shown.
    let node: Syntax
    let typeNode: TypeSyntax?

    /// True when a new row must be given a value for it.
    var isRequired: Bool { initializer == nil && !isOptional && !isTransient }

    /// Reads a member variable.
    ///
    /// - Returns: nil for what is not a stored property of the row (static, computed), and after a mistake was reported.
    static func parse(
        _ variable: VariableDeclSyntax, kind: ModelDeclaration.Kind, report: (Diagnostic) -> Void
    ) -> ModelProperty? {
        let isShared = variable.modifiers.contains {
            [.keyword(.static), .keyword(.class)].contains($0.name.tokenKind)
        }
        if isShared || variable.bindings.contains(where: \.isComputed) { return nil }
        guard variable.bindings.count == 1, let binding = variable.bindings.first else {
            report(ModelProblem.severalBindings.at(variable.bindings))
            return nil
        }
        guard let identifier = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
            report(ModelProblem.notAName.at(binding.pattern))
            return nil
        }
        let name = identifier.text
        let isConstant = variable.bindingSpecifier.tokenKind == .keyword(.let)
        let markers = PropertyMarkers(variable.attributes, property: name.unquoted, kind: kind, report: report)
        var sound = markers.sound
        func fail(_ diagnostic: Diagnostic) {
            sound = false
            report(diagnostic)
        }

        if isConstant, kind == .liveClass || binding.initializer != nil {
            fail(
                ModelProblem.constant(name).at(
                    variable.bindingSpecifier,
                    fixIts: [
                        ModelFix.replacing(
                            "use 'var'", variable.bindingSpecifier,
                            by: variable.bindingSpecifier.with(\.tokenKind, .keyword(.var)))
                    ]))
        }
        for modifier in variable.modifiers {
            if modifier.name.tokenKind == .keyword(.lazy) {
                var fixed = variable
                fixed.modifiers = variable.modifiers.filter { $0.name.tokenKind != .keyword(.lazy) }
                fixed.leadingTrivia = variable.leadingTrivia
                fail(
                    ModelProblem.lazyProperty(name).at(
                        modifier, fixIts: [ModelFix.replacing("remove 'lazy'", variable, by: fixed)]))
            }
            if modifier.detail != nil, kind == .liveClass {
                var fixed = variable
                fixed.modifiers = variable.modifiers.filter { $0.detail == nil }
                fixed.leadingTrivia = variable.leadingTrivia
                fail(
                    ModelProblem.restrictedSetter(name).at(
                        modifier,
                        fixIts: [ModelFix.replacing("remove '\(modifier.trimmed)'", variable, by: fixed)]))
            }
        }
        if let accessors = binding.accessorBlock, kind == .liveClass {
            var fixed = binding
            fixed.accessorBlock = nil
            fixed.trailingTrivia = []
            // Without its block the value would keep the space before the brace.
            fixed.initializer?.value.trailingTrivia = []
            fixed.typeAnnotation?.type.trailingTrivia = binding.initializer == nil ? [] : .space
            fail(
                ModelProblem.observers(name).at(
                    accessors, fixIts: [ModelFix.replacing("remove the observers", binding, by: fixed)]))
        }
        if kind == .liveClass, reserved.contains(name.unquoted) {
            let renamed = identifier.with(\.tokenKind, .identifier("\(name.unquoted)Value"))
            fail(
                ModelProblem.reserved(name.unquoted).at(
                    identifier,
                    fixIts: [ModelFix.replacing("rename to '\(name.unquoted)Value'", identifier, by: renamed)]))
        }

        let annotation = binding.typeAnnotation?.type
        if let implicit = annotation?.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
            let optional = OptionalTypeSyntax(
                wrappedType: implicit.wrappedType, trailingTrivia: implicit.trailingTrivia)
            fail(
                ModelProblem.implicitlyUnwrapped(name).at(
                    implicit, fixIts: [ModelFix.replacing("use '?'", implicit, by: optional)]))
        }
        guard let type = annotation?.trimmedDescription ?? binding.initializer?.value.literalType else {
            var typed = binding
            typed.pattern.trailingTrivia = []
            typed.typeAnnotation = TypeAnnotationSyntax(
                colon: .colonToken(trailingTrivia: .space),
                type: IdentifierTypeSyntax(name: .identifier("<#Type#>"), trailingTrivia: .space))
            fail(
                ModelProblem.noType(name).at(
                    identifier, fixIts: [ModelFix.replacing("add a type", binding, by: typed)]))
            return nil
        }
        let isOptional =
            annotation?.is(OptionalTypeSyntax.self) == true || type.hasPrefix("Optional<")
        if markers.isTransient, binding.initializer == nil, !isOptional {
            var filled = binding
            filled.typeAnnotation?.type.trailingTrivia = .space
            filled.initializer = InitializerClauseSyntax(
                equal: .equalToken(trailingTrivia: .space),
                value: EditorPlaceholderExprSyntax(placeholder: .identifier("<#value#>")))
            fail(
                ModelProblem.transientWithoutDefault(name).at(
                    identifier, fixIts: [ModelFix.replacing("add a default value", binding, by: filled)]))
        }
        guard sound else { return nil }
        let wrapped = annotation?.as(OptionalTypeSyntax.self)?.wrappedType.trimmedDescription ?? type
        var coding = markers.isJSON ? "Store.JSONCoding<\(wrapped)>" : markers.coding
        if isOptional, let plain = coding { coding = "Store.OptionalCoding<\(plain)>" }
        return ModelProperty(
            name: name, type: type, isOptional: isOptional, isConstant: isConstant,
            initializer: binding.initializer?.value.trimmedDescription,
            column: markers.column ?? name.unquoted,
            coding: coding,
            isKey: markers.isKey, isRowid: markers.isRowid, isTransient: markers.isTransient,
            access: variable.modifiers.propertyAccess, node: Syntax(identifier), typeNode: annotation)
    }

    func optionalKeyDiagnostic() -> Diagnostic {
        let problem = ModelProblem.optionalKey(name)
        guard let typeNode, let optional = typeNode.as(OptionalTypeSyntax.self) else { return problem.at(node) }
        let fixed = optional.wrappedType.with(\.trailingTrivia, optional.trailingTrivia)
        return problem.at(optional, fixIts: [ModelFix.replacing("remove '?'", optional, by: fixed)])
    }

    /// Members of every model, which a property would hide.
    private static let reserved: Set<String> = [
        "database", "isDeleted", "existsInDatabase", "refreshError", "rowState", "schema", "columns", "save", "edit",
        "delete",
        "reload", "values", "_storage",
    ]
}

extension PatternBindingSyntax {
    /// True for a property that stores nothing: one with a getter. Observers do not count.
    var isComputed: Bool {
        switch accessorBlock?.accessors {
        case .getter: true
        case .accessors(let list):
            list.contains { ![.keyword(.willSet), .keyword(.didSet)].contains($0.accessorSpecifier.tokenKind) }
        case nil: false
        }
    }
}

extension DeclModifierListSyntax {
    /// The access of a property's twin in `Fields`. What is private in the class must stay in reach of the class.
    var propertyAccess: String {
        for modifier in self where modifier.detail == nil {
            switch modifier.name.tokenKind {
            case .keyword(.public): return "public "
            case .keyword(.package): return "package "
            case .keyword(.private), .keyword(.fileprivate): return "fileprivate "
            default: continue
            }
        }
        return ""
    }
}

extension ExprSyntax {
    /// The type that Swift gives this initial value, as far as the syntax shows it.
    var literalType: String? {
        if self.is(IntegerLiteralExprSyntax.self) { return "Int" }
        if self.is(FloatLiteralExprSyntax.self) { return "Double" }
        if self.is(BooleanLiteralExprSyntax.self) { return "Bool" }
        if self.is(StringLiteralExprSyntax.self) { return "String" }
        if let prefix = self.as(PrefixOperatorExprSyntax.self), prefix.operator.text == "-" {
            return prefix.expression.literalType
        }
        // `UUID()`: a call of a name that starts like a type.
        if let call = self.as(FunctionCallExprSyntax.self),
            let name = call.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text,
            name.first?.isUppercase == true
        {
            return name
        }
        return nil
    }
}

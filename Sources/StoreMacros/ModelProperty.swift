import SwiftDiagnostics
import SwiftSyntax

/// A coding that shows unknown raw values as one case.
struct UnknownCoding {
    let name: String
    let type: String
    /// The case, as in the source.
    let value: String
}

/// One stored property of a model.
struct ModelProperty {
    /// The name as in the source, with backticks where it needs them.
    let name: String
    let type: String
    let isOptional: Bool
    let isConstant: Bool

    /// The default value as in the source.
    let initializer: String?
    let column: String

    /// The coding that reads and writes the column; nil when the property's own type does.
    let coding: String?
    /// The coding that `@Column(unknown:)` asks for.
    let unknownCoding: UnknownCoding?
    var isKey: Bool
    /// True for a key that SQLite generates.
    let isRowid: Bool
    let isTransient: Bool

    /// The access modifier with a trailing space; empty for internal.
    let access: String

    let variable: VariableDeclSyntax
    /// The name in ``variable``, at which mistakes of this property are shown.
    let identifier: TokenSyntax
    let typeNode: TypeSyntax?

    /// True when a new row needs a value for the property.
    var isRequired: Bool { initializer == nil && !isOptional && !isTransient }

    /// Parses a member variable.
    ///
    /// - Returns: nil for a property that is not stored in the row (static, computed), and after a mistake
    ///   was reported.
    static func parse(
        _ variable: VariableDeclSyntax, kind: ModelDeclaration.Kind, report: (Diagnostic) -> Void
    ) -> ModelProperty? {
        guard variable.isStored else { return nil }
        guard variable.bindings.count == 1, let binding = variable.bindings.first else {
            report(ModelProblem.severalBindings.at(variable.bindings, fixIts: [variable.splittingBindings]))
            return nil
        }
        guard let identifier = variable.identifier else {
            report(ModelProblem.notAName.at(binding.pattern, fixIts: variable.splittingTuple.map { [$0] } ?? []))
            return nil
        }
        let name = identifier.text
        let markers = PropertyMarkers(of: variable, kind: kind, report: report)
        var sound = markers.sound
        func fail(_ diagnostic: Diagnostic) {
            sound = false
            report(diagnostic)
        }
        checkSpecifier(of: variable, isTransient: markers.isTransient, kind, report: fail)
        checkModifiers(of: variable, isTransient: markers.isTransient, kind, report: fail)
        checkObservers(of: binding, kind, report: fail)
        checkName(of: variable, isTransient: markers.isTransient, kind, report: fail)

        let annotation = binding.typeAnnotation?.type
        if let implicit = annotation?.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
            let fixIt = ModelFix.changing("use '?'", [.replacing(implicit.exclamationMark, with: "?")])
            fail(ModelProblem.implicitlyUnwrapped(name.unquoted).at(implicit, fixIts: [fixIt]))
        }
        guard let type = annotation?.trimmedDescription ?? binding.initializer?.value.literalType else {
            var typed = binding
            typed.pattern.trailingTrivia = []
            typed.typeAnnotation = TypeAnnotationSyntax(
                colon: .colonToken(trailingTrivia: .space),
                type: IdentifierTypeSyntax(name: .identifier("<#Type#>"), trailingTrivia: .space))
            let fixIt = ModelFix.replacing("add a type", binding, by: typed)
            fail(ModelProblem.noType(name.unquoted).at(identifier, fixIts: [fixIt]))
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
            let fixIt = ModelFix.replacing("add a default value", binding, by: filled)
            fail(ModelProblem.transientWithoutDefault(name.unquoted).at(identifier, fixIts: [fixIt]))
        }
        if !markers.isTransient, markers.coding == nil {
            checkType(annotation, of: variable, at: identifier, report: fail)
        }
        let wrapped = annotation?.as(OptionalTypeSyntax.self)?.wrappedType.trimmedDescription ?? type
        if markers.unknown != nil, standard.contains(wrapped) {
            fail(ModelProblem.unknownOfNoEnum(name.unquoted, type).at(identifier))
        }
        guard sound else { return nil }
        let unknownName = "_unknown_\(name.unquoted)"
        var coding = markers.coding
        if markers.unknown != nil { coding = "Columns.\(unknownName)" }
        if isOptional, let plain = coding { coding = "Store.OptionalCoding<\(plain)>" }
        if markers.isJSON { coding = isOptional ? "Store.StoredAsOptionalJSON" : "Store.StoredAsJSON" }
        return ModelProperty(
            name: name, type: type, isOptional: isOptional,
            isConstant: variable.bindingSpecifier.tokenKind == .keyword(.let),
            initializer: binding.initializer?.value.trimmedDescription,
            column: markers.column ?? name.unquoted,
            coding: coding,
            unknownCoding: markers.unknown.map { UnknownCoding(name: unknownName, type: wrapped, value: $0) },
            isKey: markers.isKey, isRowid: markers.isRowid, isTransient: markers.isTransient,
            access: variable.modifiers.propertyAccess,
            variable: variable, identifier: identifier, typeNode: annotation)
    }
}

extension DeclModifierListSyntax {
    /// The access modifier of the property in `Fields`. The class must be able to use a property there that
    /// is private in the class.
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
    /// The type that Swift infers for this default value, as far as the syntax shows it.
    var literalType: String? {
        if self.is(IntegerLiteralExprSyntax.self) { return "Int" }
        if self.is(FloatLiteralExprSyntax.self) { return "Double" }
        if self.is(BooleanLiteralExprSyntax.self) { return "Bool" }
        if self.is(StringLiteralExprSyntax.self) { return "String" }
        if let prefix = self.as(PrefixOperatorExprSyntax.self), prefix.operator.text == "-" {
            return prefix.expression.literalType
        }
        // `UUID()`: a call of a name that is capitalized like a type.
        if let call = self.as(FunctionCallExprSyntax.self),
            let name = call.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text,
            name.first?.isUppercase == true
        {
            return name
        }
        return nil
    }
}

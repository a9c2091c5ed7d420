import SwiftDiagnostics
import SwiftSyntax

/// The signature of a function that Store calls when a model implements it.
///
/// A function that only resembles it compiles, because the protocol has a default implementation, and is never
/// called. So the macro compares the functions in the model's body; it does not see those in extensions.
struct HookSignature {
    let name: String
    let isShared: Bool
    /// The type of its only parameter, which has no label, with the name that a fix-it gives it.
    let parameter: (name: String, types: [String])?
    let mayThrow: Bool
    /// The types that it may return; empty for none.
    let results: [String]
    /// True when the macro knows all types that it may return.
    var knowsResults = false

    /// The signatures for a model of this name with a key of this type, `ID` for a key of several columns.
    static func all(model: String, key: String) -> [HookSignature] {
        let fields = ["inout Fields", "inout Self.Fields", "inout \(model).Fields"]
        let columns = ["Set<String>"]
        let keys = [key, "ID", "Self.ID", "\(model).ID"].flatMap { ["\($0)?", "Optional<\($0)>"] }
        // The name of another type of key may be an alias.
        let isKnown = key == "ID" || ModelProperty.standard.contains(key)
        return [
            HookSignature(
                name: "willInsert", isShared: true, parameter: ("fields", fields), mayThrow: true, results: []),
            HookSignature(
                name: "willUpdate", isShared: false, parameter: ("fields", fields), mayThrow: true, results: []),
            HookSignature(name: "willDelete", isShared: false, parameter: nil, mayThrow: true, results: []),
            HookSignature(name: "didInsert", isShared: false, parameter: nil, mayThrow: false, results: []),
            HookSignature(
                name: "didUpdate", isShared: false, parameter: ("columns", columns), mayThrow: false, results: []),
            HookSignature(name: "didDelete", isShared: false, parameter: nil, mayThrow: false, results: []),
            HookSignature(
                name: "makePrimaryKey", isShared: true, parameter: nil, mayThrow: true, results: keys,
                knowsResults: isKnown),
        ]
    }

    /// True when Store calls `function` in a model with this access.
    func fits(_ function: FunctionDeclSyntax, access: String) -> Bool {
        let signature = function.signature
        let effects = signature.effectSpecifiers
        guard function.genericParameterClause == nil, effects?.asyncSpecifier == nil,
            mayThrow || effects?.throwsClause == nil,
            function.name.text == name, function.modifiers.contains(where: \.isShared) == isShared,
            isVisible(function.modifiers, access: access)
        else { return false }
        let result = signature.returnClause?.type.spelling ?? "Void"
        guard results.isEmpty ? ["Void", "()"].contains(result) : mayBeResult(result) else { return false }
        let parameters = signature.parameterClause.parameters
        guard let parameter else { return parameters.isEmpty }
        guard let only = parameters.first, parameters.count == 1 else { return false }
        let type = only.type.spellingOfParameter
        return only.firstName.text == "_"
            && parameter.types.contains { $0.withoutSpaces == type || type.isNested($0.withoutSpaces) }
    }

    /// True for an optional of the key, or of a type that the macro does not know, such as a type alias.
    private func mayBeResult(_ type: String) -> Bool {
        if results.contains(where: { type == $0.withoutSpaces || type.isNested($0.withoutSpaces) }) { return true }
        guard type.hasSuffix("?") else { return false }
        let wrapped = String(type.dropLast())
        // A reference is never one of the standard types.
        return !knowsResults || !(ModelProperty.standard.contains(wrapped) || wrapped.hasPrefix("Ref<"))
    }

    private func isVisible(_ modifiers: DeclModifierListSyntax, access: String) -> Bool {
        let hidden = modifiers.contains {
            $0.detail == nil && [.keyword(.private), .keyword(.fileprivate)].contains($0.name.tokenKind)
        }
        return !hidden && (access.isEmpty || modifiers.accessPrefix == access || modifiers.accessPrefix == "public ")
    }

    /// The declaration up to its body, with the parameter's name as `function` has it.
    func declaration(like function: FunctionDeclSyntax?, access: String) -> String {
        var parameters = ""
        if let parameter {
            let given = function?.signature.parameterClause.parameters.first
            let name = (given?.secondName ?? given?.firstName)?.text ?? parameter.name
            parameters = "_ \(name == "_" ? parameter.name : name): \(parameter.types[0])"
        }
        let throwing =
            mayThrow && (function == nil || function?.signature.effectSpecifiers?.throwsClause != nil) ? " throws" : ""
        let result = results.isEmpty ? "" : " -> ID?"
        return "\(access)\(isShared ? "static " : "")func \(name)(\(parameters))\(throwing)\(result)"
    }

    /// Reports functions of the model that have the name of a hook, and that Store does not call.
    static func check(
        _ functions: [FunctionDeclSyntax], model: String, key: String, access: String, report: (Diagnostic) -> Void
    ) {
        for hook in all(model: model, key: key) {
            // A name in other letters, such as `willinsert`, is never called either.
            let named = functions.filter { $0.name.text.lowercased() == hook.name.lowercased() }
            if named.contains(where: { hook.fits($0, access: access) && $0.actor == nil }) { continue }
            for function in named {
                if let actor = function.actor, hook.fits(function, access: access) {
                    let problem = ModelProblem.hookOfActor(hook.name, actor.baseName)
                    report(problem.at(actor, fixIts: [ModelFix.removing(actor)]))
                    continue
                }
                let text = hook.declaration(like: function, access: access)
                let start = function.modifiers.first?.name ?? function.funcKeyword
                let range =
                    start.positionAfterSkippingLeadingTrivia..<function.signature.endPositionBeforeTrailingTrivia
                let fixIt = ModelFix.changing(
                    "write '\(text)'", [.replaceText(range: range, with: text, in: Syntax(function))])
                let problem = ModelProblem.hook(hook.name, hook.declaration(like: nil, access: access))
                report(problem.at(function.name, fixIts: [fixIt]))
            }
        }
    }
}

extension DeclModifierSyntax {
    /// True for `static` and `class`.
    fileprivate var isShared: Bool { [.keyword(.static), .keyword(.class)].contains(name.tokenKind) }
}

extension FunctionDeclSyntax {
    /// The attribute that binds the function to a global actor, as far as its name shows it.
    fileprivate var actor: AttributeSyntax? {
        attributes.compactMap { $0.as(AttributeSyntax.self) }.first { $0.baseName.hasSuffix("Actor") }
    }
}

extension TypeSyntax {
    /// The type without the spaces around it and in it, and without the name of Swift's module.
    fileprivate var spelling: String {
        trimmedDescription.withoutSpaces.replacing("Swift.", with: "")
    }

    /// The same for a parameter: who owns the value makes no other signature, unlike `inout`.
    fileprivate var spellingOfParameter: String {
        guard let specified = self.as(AttributedTypeSyntax.self) else { return spelling }
        let isInout = specified.specifiers.contains { $0.trimmedDescription == "inout" }
        return (isInout ? "inout" : "") + specified.baseType.spelling
    }
}

extension String {
    fileprivate var withoutSpaces: String { filter { !$0.isWhitespace } }

    /// True for `Outer.Model.Fields` when `type` is `Model.Fields`: the type with the names around it.
    fileprivate func isNested(_ type: String) -> Bool {
        let (own, other) = (removingInout, type.removingInout)
        return hasPrefix("inout") == type.hasPrefix("inout") && other.contains(".") && !other.hasPrefix("Self.")
            && own.hasSuffix(".\(other)")
    }

    private var removingInout: String { hasPrefix("inout") ? String(dropFirst(5)) : self }
}

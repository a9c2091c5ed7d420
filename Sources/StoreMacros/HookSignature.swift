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

    /// The signatures for a model of this name with a key of this type.
    static func all(model: String, key: String) -> [HookSignature] {
        let fields = ["inout Fields", "inout Self.Fields", "inout \(model).Fields"]
        let columns = ["Set<String>", "Swift.Set<String>"]
        let keys = [key, "ID", "Self.ID", "\(model).ID"].flatMap { ["\($0)?", "Optional<\($0)>"] }
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
            HookSignature(name: "makePrimaryKey", isShared: true, parameter: nil, mayThrow: true, results: keys),
        ]
    }

    /// True when Store calls `function` in a model with this access.
    func fits(_ function: FunctionDeclSyntax, access: String) -> Bool {
        let signature = function.signature
        let effects = signature.effectSpecifiers
        guard function.genericParameterClause == nil, effects?.asyncSpecifier == nil,
            mayThrow || effects?.throwsClause == nil,
            function.modifiers.contains(where: \.isShared) == isShared,
            isVisible(function.modifiers, access: access)
        else { return false }
        let result = signature.returnClause?.type.spelling ?? "Void"
        guard results.isEmpty ? ["Void", "()"].contains(result) : mayBeResult(result) else { return false }
        let parameters = signature.parameterClause.parameters
        guard let parameter else { return parameters.isEmpty }
        guard let only = parameters.first, parameters.count == 1 else { return false }
        return only.firstName.text == "_" && parameter.types.contains { $0.withoutSpaces == only.type.spelling }
    }

    /// True for an optional of the key, or of a type that the macro does not know, such as a type alias.
    private func mayBeResult(_ type: String) -> Bool {
        if results.contains(where: { $0.withoutSpaces == type }) { return true }
        let known: Set<String> = ["Int?", "Int64?", "Int32?", "String?", "UUID?", "Data?", "Double?"]
        return type.hasSuffix("?") && !known.contains(type)
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
            let named = functions.filter { $0.name.text == hook.name }
            if named.contains(where: { hook.fits($0, access: access) }) { continue }
            for function in named {
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

extension TypeSyntax {
    /// The type without the spaces around it and in it.
    fileprivate var spelling: String { trimmedDescription.withoutSpaces }
}

extension String {
    fileprivate var withoutSpaces: String { filter { !$0.isWhitespace } }
}

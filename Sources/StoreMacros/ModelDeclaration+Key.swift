import SwiftDiagnostics
import SwiftSyntax

// Which properties form the primary key, and the rules for them.

extension ModelDeclaration {
    /// Makes `id` the key when no property is marked, and reports properties that cannot be a key.
    ///
    /// - Parameter computedID: The type's computed property `id`, if any.
    static func resolveKey(
        of properties: inout [ModelProperty], _ kind: Kind, computedID: VariableDeclSyntax?,
        report: (Diagnostic) -> Void
    ) {
        if !properties.contains(where: \.isKey),
            let index = properties.firstIndex(where: { $0.name.unquoted == "id" && !$0.isTransient })
        {
            properties[index].isKey = true
        }
        let keys = properties.filter(\.isKey)
        for key in keys {
            if key.isOptional { report(key.optionalKeyDiagnostic) }
            if let marker = key.variable.marker("JSON") {
                let problem = ModelProblem.jsonKey(key.name.unquoted)
                report(problem.at(marker, fixIts: [ModelFix.removing(marker)]))
            }
            ModelProperty.checkKey(key, report: report)
            let isInteger = ["Int64", "Int"].contains(key.type)
            if key.isRowid, !isInteger || keys.count > 1 {
                let fixIts = key.variable.marker("PrimaryKey").map { [$0.removingArguments] } ?? []
                report(ModelProblem.rowidKey(key.name.unquoted).at(key.identifier, fixIts: fixIts))
            }
        }
        if kind == .liveClass { checkID(properties, keys: keys, computedID: computedID, report: report) }
    }

    /// Reports properties with names that the generated key of a class needs.
    ///
    /// `id` is the key of every model: `find`, `changes` and lists that identify rows depend on it. A second
    /// `id` would not compile, and a property in its place would have the wrong value. In a struct nothing is
    /// generated.
    private static func checkID(
        _ properties: [ModelProperty], keys: [ModelProperty], computedID: VariableDeclSyntax?,
        report: (Diagnostic) -> Void
    ) {
        guard let first = keys.first, keys.count > 1 || first.name.unquoted != "id" else { return }
        let names = keys.map { "'\($0.name.unquoted)'" }.joined(separator: " and ")
        func refuse(_ identifier: TokenSyntax, of variable: VariableDeclSyntax, hasColumn: Bool) {
            let fixIt = ModelFix.renaming(identifier, of: variable, hasColumn: hasColumn)
            report(ModelProblem.idBesideKey(names, hasColumn: hasColumn).at(identifier, fixIts: [fixIt]))
        }
        for property in properties where property.name.unquoted == "id" {
            refuse(property.identifier, of: property.variable, hasColumn: !property.isTransient)
        }
        if let computedID, let identifier = computedID.identifier {
            refuse(identifier, of: computedID, hasColumn: false)
        }
        guard keys.count > 1 else { return }
        for key in keys where ReservedNames.ofKeyParts.contains(key.name.unquoted) {
            let fixIt = ModelFix.renaming(key.identifier, of: key.variable, hasColumn: true)
            report(ModelProblem.reservedInKey(key.name.unquoted).at(key.identifier, fixIts: [fixIt]))
        }
    }

    /// The fix-it that adds a key to a type.
    static func addingKey(to declaration: some DeclGroupSyntax) -> FixIt {
        let block = declaration.memberBlock
        let indentation = block.members.first?.leadingTrivia.indentation ?? "    "
        let place = block.leftBrace.endPositionBeforeTrailingTrivia
        return ModelFix.changing(
            "add 'var id: Int64'",
            [.replaceText(range: place..<place, with: "\n\(indentation)var id: Int64", in: Syntax(block))])
    }
}

extension ModelProperty {
    /// The diagnostic of an optional key.
    fileprivate var optionalKeyDiagnostic: Diagnostic {
        let problem = ModelProblem.optionalKey(name.unquoted)
        if let optional = typeNode?.as(OptionalTypeSyntax.self) {
            let fixIt = ModelFix.changing("remove '?'", [.replacing(optional.questionMark, with: "")])
            return problem.at(optional, fixIts: [fixIt])
        }
        guard let generic = typeNode?.as(IdentifierTypeSyntax.self),
            let wrapped = generic.genericArgumentClause?.arguments.first
        else { return problem.at(identifier) }
        let fixIt = ModelFix.changing("remove 'Optional'", [.replacing(generic, with: wrapped.trimmedDescription)])
        return problem.at(generic, fixIts: [fixIt])
    }
}

import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder

/// The parsed declaration of a type with `@Model`.
struct ModelDeclaration {
    enum Kind {
        case liveClass
        case value
    }

    let kind: Kind
    let name: String
    let table: String

    /// The access modifier of generated members, with a trailing space; empty for internal.
    let access: String

    /// All stored properties in the order of the source, including transient ones.
    let properties: [ModelProperty]

    let statics: StaticDeclarations

    var columns: [ModelProperty] { properties.filter { !$0.isTransient } }
    var transients: [ModelProperty] { properties.filter(\.isTransient) }

    /// The positions of the key's columns in ``columns``.
    var keyPositions: [Int] { columns.indices.filter { columns[$0].isKey } }
    var keys: [ModelProperty] { keyPositions.map { columns[$0] } }
    /// True when SQLite generates the key of a new row.
    var mintsKey: Bool { keys.contains(where: \.isRowid) }

    /// The name of the key's type in generated code.
    var keyType: String { keys.count == 1 ? keys[0].type : "ID" }

    /// Parses `declaration`.
    ///
    /// - Parameters:
    ///   - enclosing: The contexts that enclose the declaration, innermost first.
    ///   - report: Called with each mistake, in the order of the source; mistakes of the key come last.
    /// - Returns: nil when there is a mistake; nothing is generated then.
    static func parse(
        _ declaration: some DeclGroupSyntax, attribute: AttributeSyntax, enclosing: [Syntax],
        report: (Diagnostic) -> Void
    ) -> ModelDeclaration? {
        var failed = false
        func fail(_ diagnostic: Diagnostic) {
            failed = true
            report(diagnostic)
        }

        let kind: Kind
        let name: TokenSyntax
        let generics: GenericParameterClauseSyntax?
        if let type = declaration.as(ClassDeclSyntax.self) {
            (kind, name, generics) = (.liveClass, type.name, type.genericParameterClause)
            if !type.modifiers.contains(where: { $0.name.tokenKind == .keyword(.final) }) {
                fail(ModelProblem.classNotFinal(type.name.text).at(type.name, fixIts: [addingFinal(to: type)]))
            }
            checkClass(type, report: fail)
        } else if let type = declaration.as(StructDeclSyntax.self) {
            (kind, name, generics) = (.value, type.name, type.genericParameterClause)
        } else {
            let fixIts = declaration.as(ActorDeclSyntax.self).map { type in
                [ModelFix.changing("use 'final class'", [.replacing(type.actorKeyword, with: "final class")])]
            }
            fail(ModelProblem.notAClassOrStruct.at(attribute, fixIts: fixIts ?? []))
            return nil
        }
        if let generics {
            fail(ModelProblem.generic.at(generics))
        } else if enclosing.contains(where: \.isGeneric) {
            fail(ModelProblem.generic.at(attribute))
        }
        if name.text.unquoted == "Store" {
            fail(ModelProblem.namedLikeModule.at(name, fixIts: [renaming(name, attribute: attribute)]))
        }

        var table = name.text.unquoted
        if let argument = attribute.argument(labeled: "table") {
            if let text = attribute.name(in: argument, report: fail) { table = text }
        }

        var properties: [ModelProperty] = []
        var computedID: VariableDeclSyntax?
        var taken: Set<String> = []
        for member in ModelMember.all(in: declaration.memberBlock.members) {
            guard let variable = member.variable, variable.isStored else {
                member.check(kind, report: fail)
                if let variable = member.variable, !variable.isShared, variable.firstName == "id" {
                    computedID = variable
                }
                continue
            }
            guard !member.isConditional else {
                // In a struct nothing is generated for a transient property, so the macro can ignore it.
                if kind == .value, variable.marker("Transient") != nil { continue }
                let problem = ModelProblem.conditional(variable.firstName, mayBeTransient: kind == .value)
                fail(problem.at(variable.bindings))
                continue
            }
            guard ModelMember.checkShared(variable, report: fail) else { continue }
            guard let property = ModelProperty.parse(variable, kind: kind, report: fail) else { continue }
            if !property.isTransient, !taken.insert(property.column.lowercased()).inserted {
                let fixIt = ModelFix.changing("name another column", [variable.namingColumn("<#\"name\"#>")])
                fail(ModelProblem.duplicateColumn(property.column).at(property.identifier, fixIts: [fixIt]))
            }
            properties.append(property)
        }

        resolveKey(of: &properties, kind, computedID: computedID, report: fail)
        if kind == .liveClass, !failed, !properties.contains(where: \.isKey) {
            // With a transient or computed `id`, the added key would declare `id` twice.
            let hasID = computedID != nil || properties.contains { $0.name.unquoted == "id" }
            fail(ModelProblem.noPrimaryKey(name.text).at(name, fixIts: hasID ? [] : [addingKey(to: declaration)]))
        }
        let keys = properties.filter(\.isKey)
        if kind == .liveClass, let key = keys.first {
            checkMembers(
                declaration.memberBlock.members, model: name.text, key: keys.count == 1 ? key.type : "ID",
                access: declaration.modifiers.accessPrefix, report: fail)
        }
        guard !failed else { return nil }
        return ModelDeclaration(
            kind: kind, name: name.text, table: table, access: declaration.modifiers.accessPrefix,
            properties: properties, statics: StaticDeclarations(in: declaration.memberBlock.members))
    }

    private static func addingFinal(to type: ClassDeclSyntax) -> FixIt {
        var changes: [FixIt.Change] = [.inserting("final ", before: type.classKeyword)]
        // `open` allows subclasses, which a final class cannot have.
        for modifier in type.modifiers where modifier.name.tokenKind == .keyword(.open) {
            changes.append(.replacing(modifier.name, with: "public"))
        }
        return ModelFix.changing("add 'final'", changes)
    }

    /// Renames a type whose name hides the module in its own expansion, and keeps the name of its table.
    private static func renaming(_ name: TokenSyntax, attribute: AttributeSyntax) -> FixIt {
        let old = name.text.unquoted
        var changes: [FixIt.Change] = [.replacing(name, with: "\(old)Model")]
        if attribute.argument(labeled: "table") == nil {
            let spelled = "@\(attribute.attributeName.trimmedDescription)(table: \(old.swiftLiteral))"
            changes.append(.replacing(attribute, with: spelled))
        }
        return ModelFix.changing("rename to '\(old)Model'", changes)
    }
}

extension String {
    /// The name without the backticks that allow a keyword as a name.
    var unquoted: String { hasPrefix("`") && hasSuffix("`") && count > 2 ? String(dropFirst().dropLast()) : self }

    /// A Swift string literal of this text.
    var swiftLiteral: String { StringLiteralExprSyntax(content: self).description }
}

extension Syntax {
    /// True for a type with generic parameters, such as one around the model: its static members could not be
    /// stored.
    fileprivate var isGeneric: Bool {
        asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
    }
}

extension DeclModifierListSyntax {
    /// `public ` or `package ` when the type has this access: generated members must be as visible as the
    /// conformance.
    var accessPrefix: String {
        for modifier in self where modifier.detail == nil {
            switch modifier.name.tokenKind {
            case .keyword(.public), .keyword(.open): return "public "
            case .keyword(.package): return "package "
            default: continue
            }
        }
        return ""
    }
}

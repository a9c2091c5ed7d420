import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder

/// What `@Model` understood of the type that it is attached to.
struct ModelDeclaration {
    enum Kind {
        case liveClass
        case value
    }

    let kind: Kind
    let name: String
    let table: String

    /// The access modifier that generated members take, with a trailing space; empty for internal.
    let access: String

    /// All stored properties in the order of the source, transient ones included.
    let properties: [ModelProperty]

    var columns: [ModelProperty] { properties.filter { !$0.isTransient } }
    var transients: [ModelProperty] { properties.filter(\.isTransient) }

    /// Positions of the key in ``columns``.
    var keyPositions: [Int] { columns.indices.filter { columns[$0].isKey } }
    var keys: [ModelProperty] { keyPositions.map { columns[$0] } }
    /// True when SQLite mints the key of a new row.
    var mintsKey: Bool { keys.contains(where: \.isRowid) }

    /// The name of the key's type as generated code spells it.
    var keyType: String { keys.count == 1 ? keys[0].type : "ID" }

    /// Reads `declaration`.
    ///
    /// - Parameter report: Called with each mistake, in the order of the source.
    /// - Returns: nil when there is any mistake: then nothing is generated.
    static func parse(
        _ declaration: some DeclGroupSyntax, attribute: AttributeSyntax, report: (Diagnostic) -> Void
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
        } else if let type = declaration.as(StructDeclSyntax.self) {
            (kind, name, generics) = (.value, type.name, type.genericParameterClause)
        } else {
            fail(ModelProblem.notAClassOrStruct.at(attribute))
            return nil
        }
        if let generics { fail(ModelProblem.generic.at(generics)) }

        var table = name.text.unquoted
        if let argument = attribute.argument(labeled: "table") {
            if let text = literal(argument, report: fail) { table = text }
        }

        var properties: [ModelProperty] = []
        var taken: Set<String> = []
        for member in declaration.memberBlock.members {
            if let initializer = member.decl.as(InitializerDeclSyntax.self), kind == .liveClass {
                fail(ModelProblem.initializer.at(initializer.initKeyword))
            }
            guard let variable = member.decl.as(VariableDeclSyntax.self) else { continue }
            guard let property = ModelProperty.parse(variable, kind: kind, report: fail) else { continue }
            if !property.isTransient, !taken.insert(property.column.lowercased()).inserted {
                fail(ModelProblem.duplicateColumn(property.column).at(property.node))
            }
            properties.append(property)
        }

        if !properties.contains(where: \.isKey),
            let index = properties.firstIndex(where: { $0.name == "id" && !$0.isTransient })
        {
            properties[index].isKey = true
        }
        for property in properties where property.isKey && property.isOptional {
            fail(property.optionalKeyDiagnostic())
        }
        for property in properties where property.isRowid {
            let isInteger = ["Int64", "Int"].contains(property.type)
            guard !isInteger || properties.filter(\.isKey).count > 1 else { continue }
            fail(ModelProblem.rowidKey(property.name).at(property.node))
        }
        if kind == .liveClass, !failed, !properties.contains(where: \.isKey) {
            fail(ModelProblem.noPrimaryKey(name.text).at(name, fixIts: [addingKey(to: declaration)]))
        }
        guard !failed else { return nil }
        return ModelDeclaration(
            kind: kind, name: name.text, table: table, access: declaration.modifiers.accessPrefix,
            properties: properties)
    }

    /// The text of a plain, non-empty string literal; reports anything else.
    static func literal(_ expression: ExprSyntax, report: (Diagnostic) -> Void) -> String? {
        guard let text = expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue else {
            report(ModelProblem.nameNotLiteral.at(expression))
            return nil
        }
        guard !text.isEmpty else {
            report(ModelProblem.emptyName.at(expression))
            return nil
        }
        return text
    }

    private static func addingFinal(to type: ClassDeclSyntax) -> FixIt {
        var fixed = type
        var modifier = DeclModifierSyntax(name: .keyword(.final), trailingTrivia: .space)
        if type.modifiers.isEmpty {
            modifier.leadingTrivia = type.classKeyword.leadingTrivia
            fixed.classKeyword.leadingTrivia = []
        }
        fixed.modifiers.append(modifier)
        return ModelFix.replacing("add 'final'", type, by: fixed)
    }

    private static func addingKey(to declaration: some DeclGroupSyntax) -> FixIt {
        var block = declaration.memberBlock
        let key = MemberBlockItemSyntax(
            leadingTrivia: .newline + .spaces(4),
            decl: VariableDeclSyntax(
                bindingSpecifier: .keyword(.var, trailingTrivia: .space),
                bindings: [
                    PatternBindingSyntax(
                        pattern: IdentifierPatternSyntax(identifier: .identifier("id")),
                        typeAnnotation: TypeAnnotationSyntax(
                            colon: .colonToken(trailingTrivia: .space),
                            type: IdentifierTypeSyntax(name: .identifier("Int64"))))
                ]))
        block.members.insert(key, at: block.members.startIndex)
        return ModelFix.replacing("add 'var id: Int64'", declaration.memberBlock, by: block)
    }
}

extension String {
    /// The name without the backticks that let a keyword stand as a name.
    var unquoted: String { hasPrefix("`") && hasSuffix("`") && count > 2 ? String(dropFirst().dropLast()) : self }

    /// A Swift string literal of this text.
    var swiftLiteral: String { StringLiteralExprSyntax(content: self).description }
}

extension DeclModifierListSyntax {
    /// `public ` or `package ` when the type says so: generated members must be as visible as the conformance.
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

extension AttributeSyntax {
    /// The expression of the argument with this label, nil for the first without one.
    func argument(labeled label: String?) -> ExprSyntax? {
        arguments?.as(LabeledExprListSyntax.self)?.first { $0.label?.text == label }?.expression
    }
}

import SwiftSyntax
import SwiftSyntaxBuilder

/// The members of a class with a mistake, which keep the mistake the only message of the compiler.
enum RefusedModel {
    /// - Parameter protocols: What the class does not conform to yet, of that which the macro may add.
    static func members(of declaration: some DeclGroupSyntax, _ protocols: [TypeSyntax]) -> [DeclSyntax] {
        let members = ModelMember.all(in: declaration.memberBlock.members)
        let hasInitializer = members.contains { $0.item.decl.is(InitializerDeclSyntax.self) }
        guard let type = declaration.as(ClassDeclSyntax.self) else {
            return declaration.is(ActorDeclSyntax.self) && !hasInitializer ? [initializer] : []
        }
        let names = Set(members.compactMap { $0.variable?.firstName })
        let isNamed = !names.isDisjoint(with: ["indexes", "foreignKeys", "textIndexes"])
        let conforms = !isFinal(type) && protocols.hasModel
        return (hasInitializer ? [] : [initializer])
            + (isNamed || conforms ? [columns(of: type, isPrivate: !conforms)] : [])
            + (isNamed ? declarations(in: type.name.text) : [])
            + (conforms ? conformance(of: type, key: keyType(members)) : [])
    }

    /// What a class conforms to that is not final: the compiler (6.3) aborts at a class that inherits from it otherwise.
    static func extensions(
        of declaration: some DeclGroupSyntax, _ type: some TypeSyntaxProtocol, _ protocols: [TypeSyntax]
    ) throws -> [ExtensionDeclSyntax] {
        guard let declaration = declaration.as(ClassDeclSyntax.self), !isFinal(declaration), protocols.hasModel
        else { return [] }
        return [
            try ExtensionDeclSyntax(
                """
                @available(*, unavailable, message: "a model is a final class")
                extension \(type.trimmed): nonisolated Store.TableModel, nonisolated Store.Model {}
                """),
            try ModelMacro.unavailableValue(of: type),
        ]
    }

    private static func isFinal(_ type: ClassDeclSyntax) -> Bool {
        type.modifiers.contains { $0.name.tokenKind == .keyword(.final) }
    }

    /// The type of `id` as the class writes it.
    private static func keyType(_ members: [ModelMember]) -> String {
        let id = members.compactMap(\.variable).first { !$0.isShared && $0.firstName == "id" }
        return id?.bindings.first?.typeAnnotation?.type.trimmedDescription ?? "Int64"
    }

    /// Members of a model that no extension of `Model` can give to a class that is not final.
    private static func conformance(of type: ClassDeclSyntax, key: String) -> [DeclSyntax] {
        let access = type.modifiers.accessPrefix
        return [
            "\(raw: access)typealias ID = \(raw: key)",
            "\(raw: access)typealias Fields = Store._NonfinalFields<\(raw: key)>",
            """
            \(raw: access)static func _make(_ fields: Fields, _ start: Store.RegistrationContext) -> Self {
                preconditionFailure()
            }
            """,
            """
            \(raw: access)static func _read(
                _ row: Store.RowCursor, _ start: Store.RegistrationContext
            ) throws -> Self { preconditionFailure() }
            """,
        ]
    }

    /// Without it, the compiler would report also that the class has none, because its properties are not turned into
    /// accessors.
    private static let initializer: DeclSyntax = "private init() { preconditionFailure() }"

    private static func columns(of type: ClassDeclSyntax, isPrivate: Bool) -> DeclSyntax {
        "\(raw: isPrivate ? "private " : type.modifiers.accessPrefix)typealias Columns = \(type.name.trimmed)"
    }

    /// What `Index(\.title)`, `ForeignKey(\.player)` and `TextIndex(\.title)` mean in a class that conforms to no model.
    private static func declarations(in name: String) -> [DeclSyntax] {
        [
            """
            private static func Index<each V>(
                _ columns: repeat KeyPath<\(raw: name), each V>, unique: Bool = false, where condition: String? = nil
            ) -> Store.Index { preconditionFailure() }
            """,
            """
            private static func Index(
                _ columns: String..., unique: Bool = false, where condition: String? = nil
            ) -> Store.Index { preconditionFailure() }
            """,
            """
            private static func ForeignKey<V>(
                _ reference: KeyPath<\(raw: name), V>, onDelete action: Store.ForeignKey.Action = .refuse
            ) -> Store.ForeignKey { preconditionFailure() }
            """,
            """
            private static func TextIndex<each V>(
                _ columns: repeat KeyPath<\(raw: name), each V>, tokenizer: Store.TextIndex.Tokenizer = .words,
                prefixes: [Int] = [], name: String? = nil
            ) -> Store.TextIndex { preconditionFailure() }
            """,
            """
            private static func TextIndex(
                _ columns: String..., tokenizer: Store.TextIndex.Tokenizer = .words, prefixes: [Int] = [],
                name: String? = nil
            ) -> Store.TextIndex { preconditionFailure() }
            """,
        ]
    }
}

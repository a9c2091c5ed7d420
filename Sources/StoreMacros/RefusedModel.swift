import SwiftSyntax
import SwiftSyntaxBuilder

/// The members of a class with a mistake, which keep the mistake the only message of the compiler.
enum RefusedModel {
    static func members(of declaration: some DeclGroupSyntax) -> [DeclSyntax] {
        guard let type = declaration.as(ClassDeclSyntax.self) else { return [] }
        let members = ModelMember.all(in: declaration.memberBlock.members)
        let names = Set(members.compactMap { $0.variable?.firstName })
        let isNamed = names.contains("indexes") || names.contains("foreignKeys")
        let hasInitializer = members.contains { $0.item.decl.is(InitializerDeclSyntax.self) }
        return (hasInitializer ? [] : [initializer]) + (isNamed ? declarations(in: type.name.text) : [])
    }

    /// Without it, the compiler would report also that the class has none, because its properties are not turned into
    /// accessors.
    private static let initializer: DeclSyntax = "private init() { preconditionFailure() }"

    /// What `Index(\.title)` and `ForeignKey(\.player)` mean in a class that conforms to no model.
    private static func declarations(in name: String) -> [DeclSyntax] {
        [
            "private typealias Columns = \(raw: name)",
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
        ]
    }
}

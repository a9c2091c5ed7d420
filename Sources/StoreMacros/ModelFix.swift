import SwiftDiagnostics
import SwiftSyntax

/// The title of a fix-it, and the fix-its that several mistakes share.
struct ModelFix: FixItMessage {
    let message: String
    var fixItID: MessageID { MessageID(domain: "Store.Model.fix", id: message) }

    /// A fix-it with this title that makes these changes.
    static func changing(_ title: String, _ changes: [FixIt.Change]) -> FixIt {
        FixIt(message: ModelFix(message: title), changes: changes)
    }

    /// A fix-it with this title that replaces `old` by `new`.
    static func replacing(_ title: String, _ old: some SyntaxProtocol, by new: some SyntaxProtocol) -> FixIt {
        changing(title, [.replace(oldNode: Syntax(old), newNode: Syntax(new))])
    }

    /// A fix-it that removes an attribute.
    static func removing(_ attribute: AttributeSyntax) -> FixIt {
        changing("remove '@\(attribute.baseName)'", [.removing(attribute)])
    }

    /// A fix-it that removes a modifier.
    static func removing(_ modifier: DeclModifierSyntax) -> FixIt {
        changing("remove '\(modifier.trimmedDescription)'", [.removing(modifier)])
    }

    /// A fix-it that renames a property and keeps the name of its column.
    ///
    /// It renames only the declaration. Uses of the old name then refer to the member that every model has.
    static func renaming(_ identifier: TokenSyntax, of variable: VariableDeclSyntax, hasColumn: Bool) -> FixIt {
        let old = identifier.text.unquoted
        let new = "\(old)Value"
        var changes: [FixIt.Change] = [.replacing(identifier, with: new)]
        if hasColumn, variable.marker("Column")?.argument(labeled: nil) == nil {
            changes.append(variable.namingColumn(old.swiftLiteral))
        }
        return changing("rename to '\(new)'", changes)
    }
}

extension FixIt.Change {
    /// Inserts `text` before the first character of `node`.
    static func inserting(_ text: String, before node: some SyntaxProtocol) -> FixIt.Change {
        let start = node.positionAfterSkippingLeadingTrivia
        return .replaceText(range: start..<start, with: text, in: Syntax(node))
    }

    /// Replaces `node` by `text`; the space and the comments around it stay.
    static func replacing(_ node: some SyntaxProtocol, with text: String) -> FixIt.Change {
        .replaceText(range: node.trimmedRange, with: text, in: Syntax(node))
    }

    /// Removes `node` and the space after it, so that the next token takes its place.
    static func removing(_ node: some SyntaxProtocol) -> FixIt.Change {
        let start = node.positionAfterSkippingLeadingTrivia
        // A comment between the two stays.
        guard let next = node.nextToken(viewMode: .sourceAccurate),
            (node.trailingTrivia + next.leadingTrivia).allSatisfy(\.isWhitespace)
        else { return .replacing(node, with: "") }
        return .replaceText(range: start..<next.positionAfterSkippingLeadingTrivia, with: "", in: Syntax(node))
    }

    /// Removes a member with its line and the comments above it.
    static func removing(member: MemberBlockItemSyntax) -> FixIt.Change {
        .replaceText(range: member.position..<member.endPosition, with: "", in: Syntax(member))
    }
}

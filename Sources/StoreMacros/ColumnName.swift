import SwiftDiagnostics
import SwiftParser
import SwiftSyntax

// The names of tables and columns in `@Model(table:)` and `@Column`.

extension AttributeSyntax {
    /// Returns the text of `expression`, an argument of this attribute, when it is a plain, non-empty string
    /// literal.
    ///
    /// - Returns: nil for any other expression, which is reported.
    func name(in expression: ExprSyntax, report: (Diagnostic) -> Void) -> String? {
        guard let text = expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue else {
            let fixIt = ModelFix.changing("write a literal", [.replacing(expression, with: "<#\"name\"#>")])
            report(ModelProblem.nameNotLiteral.at(expression, fixIts: [fixIt]))
            return nil
        }
        guard !text.isEmpty else {
            report(ModelProblem.emptyName.at(expression, fixIts: [removingName]))
            return nil
        }
        return text
    }

    /// The fix-it that removes the name, and what has no meaning without it.
    private var removingName: FixIt {
        let list = self.arguments?.as(LabeledExprListSyntax.self)
        if let list, let next = list.dropFirst().first {
            let range = list.positionAfterSkippingLeadingTrivia..<next.positionAfterSkippingLeadingTrivia
            return ModelFix.changing(
                "remove the empty name", [.replaceText(range: range, with: "", in: Syntax(self))])
        }
        return baseName == "Model" ? removingArguments : ModelFix.removing(self)
    }

    /// The fix-it that removes the attribute's arguments.
    var removingArguments: FixIt {
        guard let leftParen, let rightParen else { return ModelFix.removing(self) }
        let range = leftParen.positionAfterSkippingLeadingTrivia..<rightParen.endPositionBeforeTrailingTrivia
        let text = "(\(self.arguments?.trimmedDescription ?? ""))"
        return ModelFix.changing("remove '\(text)'", [.replaceText(range: range, with: "", in: Syntax(self))])
    }
}

extension VariableDeclSyntax {
    /// The change that makes `name`, a literal or an editor placeholder, the name of the column.
    func namingColumn(_ name: String) -> FixIt.Change {
        guard let column = marker("Column") else {
            return .inserting("@Column(\(name)) ", before: modifiers.first?.name ?? bindingSpecifier)
        }
        if let old = column.argument(labeled: nil) { return .replacing(old, with: name) }
        guard let first = column.arguments?.as(LabeledExprListSyntax.self)?.first else {
            return .replacing(column, with: "@Column(\(name))")
        }
        return .inserting("\(name), ", before: first)
    }
}

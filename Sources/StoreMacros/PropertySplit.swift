import SwiftDiagnostics
import SwiftSyntax

// A model needs one declaration for each property; Swift allows several properties in one.

extension VariableDeclSyntax {
    /// The fix-it that writes `var a = 1, b = 2` as two declarations.
    var splittingBindings: FixIt {
        var declarations: [String] = []
        // In `var a, b: Int`, the type annotation at the end applies to `a` as well.
        var type: TypeAnnotationSyntax?
        for binding in bindings.reversed() {
            var single = binding.with(\.trailingComma, nil)
            if single.typeAnnotation != nil || single.initializer != nil {
                type = single.typeAnnotation
            } else {
                single.typeAnnotation = type
            }
            declarations.insert(single.trimmedDescription, at: 0)
        }
        return split(into: declarations)
    }

    /// The fix-it that writes `var (a, b) = (1, 2)` as two declarations; nil when the value is not a tuple
    /// literal.
    var splittingTuple: FixIt? {
        guard let binding = bindings.first, binding.typeAnnotation == nil,
            let names = binding.pattern.as(TuplePatternSyntax.self)?.elements,
            let values = binding.initializer?.value.as(TupleExprSyntax.self)?.elements,
            names.count == values.count, names.allSatisfy({ $0.pattern.is(IdentifierPatternSyntax.self) })
        else { return nil }
        return split(
            into: zip(names, values).map { name, value in
                "\(name.pattern.trimmedDescription) = \(value.expression.trimmedDescription)"
            })
    }

    /// Writes each declaration on its own line, with the attributes and modifiers of the original.
    private func split(into declarations: [String]) -> FixIt {
        let prefix = self.with(\.bindings, []).trimmedDescription
        let text = declarations.map { "\(prefix) \($0)" }.joined(separator: "\n" + leadingTrivia.indentation)
        return ModelFix.changing("declare each by itself", [.replacing(self, with: text)])
    }
}

extension Trivia {
    /// The trailing spaces and tabs, which indent the line of the next token.
    var indentation: String {
        String(description.reversed().prefix { $0 == " " || $0 == "\t" }.reversed())
    }
}

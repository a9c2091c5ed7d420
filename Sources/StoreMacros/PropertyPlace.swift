import SwiftSyntax
import SwiftSyntaxMacros

/// Makes the compiler report an error in generated code at the property that it is about.
///
/// A macro sees no types. Only the compiler can tell that a type is no column, and without this it would say so in
/// the expansion, which the user did not write.
struct PropertyPlace {
    private let locate: (TokenSyntax) -> AbstractSourceLocation?

    init(in context: some MacroExpansionContext) {
        locate = { context.location(of: $0, at: .afterLeadingTrivia, filePathMode: .filePath) }
    }

    /// Gives the lines of `text` the place of `property`, unless the macro knows that its type needs no check.
    func mark(_ property: ModelProperty, _ text: String) -> String {
        property.isKnown ? text : mark(property.identifier, text)
    }

    /// Gives the lines of `text` the place of `identifier`.
    func mark(_ identifier: TokenSyntax, _ text: String) -> String {
        guard let place = locate(identifier) else { return text }
        return "#sourceLocation(file: \(place.file), line: \(place.line))\n\(text)\n#sourceLocation()"
    }
}

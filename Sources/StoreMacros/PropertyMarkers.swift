import SwiftDiagnostics
import SwiftSyntax

/// The attributes of one property that concern `@Model`.
struct PropertyMarkers {
    private(set) var column: String?
    private(set) var coding: String?
    /// The case that stands for unknown raw values.
    private(set) var unknown: String?
    private(set) var isKey = false
    private(set) var isRowid = false
    private(set) var isJSON = false
    private(set) var isTransient = false

    /// False when a mistake was reported.
    private(set) var sound = true

    /// The attributes that `@Model` reads.
    static let names: Set<String> = ["Column", "PrimaryKey", "JSON", "Transient"]

    /// Attributes of the language that do not change how a value is stored.
    private static let harmless: Set<String> = ["available", "usableFromInline", "inlinable", "_ModelProperty"]

    init(of variable: VariableDeclSyntax, kind: ModelDeclaration.Kind, report: (Diagnostic) -> Void) {
        let property = variable.firstName
        var seen: [String: AttributeSyntax] = [:]
        for element in variable.attributes {
            guard let attribute = element.as(AttributeSyntax.self) else {
                if let conditional = element.as(IfConfigDeclSyntax.self), Self.matters(conditional, kind) {
                    fail(ModelProblem.conditionalAttribute(property).at(conditional), report)
                }
                continue
            }
            let name = attribute.baseName
            guard Self.names.contains(name) else {
                if Self.matters(name, kind) {
                    let fixIt = ModelFix.removing(attribute)
                    fail(ModelProblem.wrapped(name, property).at(attribute, fixIts: [fixIt]), report)
                }
                continue
            }
            if let first = seen[name] {
                let fixIt = Self.merging(attribute, into: first)
                fail(ModelProblem.repeated(name, property).at(attribute, fixIts: [fixIt]), report)
                continue
            }
            seen[name] = attribute
            read(attribute, report: report)
        }
        for other in ["Column", "PrimaryKey", "JSON"] where isTransient {
            guard let node = seen[other] else { continue }
            fail(ModelProblem.conflicting("Transient", other).at(node, fixIts: [ModelFix.removing(node)]), report)
        }
        if unknown != nil, let node = seen["JSON"] {
            fail(
                ModelProblem.conflicting("Column(unknown:)", "JSON").at(node, fixIts: [ModelFix.removing(node)]), report
            )
        }
        if unknown != nil, let node = seen["PrimaryKey"] {
            // Rows with different keys would have one key in memory.
            let problem = ModelProblem.conflicting("Column(unknown:)", "PrimaryKey")
            fail(problem.at(node, fixIts: [ModelFix.removing(node)]), report)
        }
        if coding != nil, let node = seen["JSON"] {
            fail(ModelProblem.conflicting("Column(as:)", "JSON").at(node, fixIts: [ModelFix.removing(node)]), report)
        }
    }

    private mutating func fail(_ diagnostic: Diagnostic, _ report: (Diagnostic) -> Void) {
        sound = false
        report(diagnostic)
    }

    private mutating func read(_ marker: AttributeSyntax, report: (Diagnostic) -> Void) {
        switch marker.baseName {
        case "PrimaryKey":
            isKey = true
            isRowid = marker.argument(labeled: nil)?.trimmedDescription.hasSuffix(".rowid") == true
        case "JSON": isJSON = true
        case "Transient": isTransient = true
        default:
            if let expression = marker.argument(labeled: nil) {
                column = marker.name(in: expression, report: report)
                if column == nil { sound = false }
            }
            if let type = marker.argument(labeled: "as") {
                let text = type.trimmedDescription
                coding = text.hasSuffix(".self") ? String(text.dropLast(5)) : text
            }
            unknown = marker.argument(labeled: "unknown")?.trimmedDescription
        }
    }

    /// True for an attribute that affects how the value is stored. A struct may have property wrappers,
    /// because the macro only assigns its properties.
    private static func matters(_ name: String, _ kind: ModelDeclaration.Kind) -> Bool {
        names.contains(name) || (kind == .liveClass && !harmless.contains(name))
    }

    /// True when one of the branches contains an attribute that affects how the value is stored.
    private static func matters(_ conditional: IfConfigDeclSyntax, _ kind: ModelDeclaration.Kind) -> Bool {
        conditional.clauses.contains { clause in
            guard case .attributes(let attributes)? = clause.elements else { return false }
            return attributes.contains { element in
                if let inner = element.as(IfConfigDeclSyntax.self) { return matters(inner, kind) }
                return element.as(AttributeSyntax.self).map { matters($0.baseName, kind) } ?? false
            }
        }
    }

    /// The fix-it for a repeated marker: it merges the two, and the first one wins where they differ.
    private static func merging(_ second: AttributeSyntax, into first: AttributeSyntax) -> FixIt {
        let value = first.argument(labeled: nil) ?? second.argument(labeled: nil)
        let coding = first.argument(labeled: "as") ?? second.argument(labeled: "as")
        let unknown = first.argument(labeled: "unknown") ?? second.argument(labeled: "unknown")
        let arguments = [
            value?.trimmedDescription, coding.map { "as: \($0.trimmedDescription)" },
            unknown.map { "unknown: \($0.trimmedDescription)" },
        ].compactMap { $0 }
        let name = "@\(first.attributeName.trimmedDescription)"
        let merged = arguments.isEmpty ? name : "\(name)(\(arguments.joined(separator: ", ")))"
        guard merged != first.trimmedDescription else { return ModelFix.removing(second) }
        return ModelFix.changing("write '\(merged)'", [.replacing(first, with: merged), .removing(second)])
    }
}

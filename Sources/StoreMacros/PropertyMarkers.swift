import SwiftDiagnostics
import SwiftSyntax

/// The attributes of one property, as far as `@Model` cares.
struct PropertyMarkers {
    private(set) var column: String?
    private(set) var coding: String?
    private(set) var isKey = false
    private(set) var isRowid = false
    private(set) var isJSON = false
    private(set) var isTransient = false

    /// False when a mistake was reported.
    private(set) var sound = true

    /// Attributes of the language that do not change how a value is stored.
    private static let harmless: Set<String> = ["available", "usableFromInline", "inlinable", "_ModelProperty"]

    init(
        _ attributes: AttributeListSyntax, property: String, kind: ModelDeclaration.Kind,
        report: (Diagnostic) -> Void
    ) {
        var seen: [String: AttributeSyntax] = [:]
        for case .attribute(let attribute) in attributes {
            let name = attribute.attributeName.trimmedDescription.split(separator: ".").last.map(String.init) ?? ""
            seen[name] = attribute
            switch name {
            case "Column": readColumn(attribute, report: report)
            case "PrimaryKey":
                isKey = true
                isRowid = attribute.argument(labeled: nil)?.trimmedDescription.hasSuffix(".rowid") == true
            case "JSON": isJSON = true
            case "Transient": isTransient = true
            case _ where PropertyMarkers.harmless.contains(name): continue
            default:
                guard kind == .liveClass else { continue }
                sound = false
                report(ModelProblem.wrapped(name, property).at(attribute))
            }
        }
        let exclusive: [(String, String)] = [
            ("Transient", "Column"), ("Transient", "PrimaryKey"), ("Transient", "JSON"), ("JSON", "PrimaryKey"),
        ]
        for (first, second) in exclusive {
            guard seen[first] != nil, let node = seen[second] else { continue }
            sound = false
            report(
                ModelProblem.conflicting(first, second).at(
                    node, fixIts: [ModelFix.removing(node, from: attributes, named: second)]))
        }
        if coding != nil, isJSON, let node = seen["JSON"] {
            sound = false
            report(ModelProblem.conflicting("Column(as:)", "JSON").at(node))
        }
    }

    private mutating func readColumn(_ attribute: AttributeSyntax, report: (Diagnostic) -> Void) {
        if let name = attribute.argument(labeled: nil) {
            column = ModelDeclaration.literal(name, report: report)
            if column == nil { sound = false }
        }
        if let type = attribute.argument(labeled: "as") {
            let text = type.trimmedDescription
            coding = text.hasSuffix(".self") ? String(text.dropLast(5)) : text
        }
    }
}

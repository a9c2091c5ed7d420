import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import StoreMacros

/// Checks what the model macros make of `source`.
///
/// - Parameters:
///   - expanded: The whole source after expansion.
///   - fixed: The source after every fix-it, where there is one.
func expectExpansion(
    of source: String, to expanded: String, diagnostics: [DiagnosticSpec] = [], fixed: String? = nil,
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
) {
    assertMacroExpansion(
        source, expandedSource: expanded, diagnostics: diagnostics, macroSpecs: macros, fixedSource: fixed,
        failureHandler: { failure in
            Issue.record(
                "\(failure.message)",
                sourceLocation: SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
        })
}

/// Checks that `source` is refused at `line` and `column` with `message`, and left as it is.
func expectProblem(
    _ message: String, in source: String, line: Int, column: Int, fixIt: String? = nil, fixed: String? = nil,
    fileID: String = #fileID, filePath: String = #filePath, testLine: Int = #line
) {
    let unmarked = [
        "@Model(table: \"\")", "@Model(table: name)", "@Model", "@Transient", "@PrimaryKey(.rowid)", "@PrimaryKey",
        "@JSON",
    ]
    var expanded = source
    for marker in unmarked { expanded = expanded.replacingLine(marker) }
    expectExpansion(
        of: source, to: expanded,
        diagnostics: [
            DiagnosticSpec(
                message: message, line: line, column: column, fixIts: fixIt.map { [FixItSpec(message: $0)] } ?? [])
        ],
        fixed: fixed, fileID: fileID, filePath: filePath, line: testLine)
}

extension String {
    /// This text without the attribute `marker`, as an expansion leaves it.
    fileprivate func replacingLine(_ marker: String) -> String {
        split(separator: "\n", omittingEmptySubsequences: false).compactMap { line -> String? in
            let text = String(line)
            let trimmed = text.drop { $0 == " " }
            if trimmed == marker { return nil }
            guard trimmed.hasPrefix(marker + " ") else { return text }
            return String(text.prefix { $0 == " " }) + trimmed.dropFirst(marker.count + 1)
        }.joined(separator: "\n")
    }
}

private let macros: [String: MacroSpec] = [
    "Model": MacroSpec(type: ModelMacro.self, conformances: ["TableModel", "Model", "ValueModel"]),
    "_ModelProperty": MacroSpec(type: ModelPropertyMacro.self),
    "Column": MacroSpec(type: PropertyMarkerMacro.self),
    "PrimaryKey": MacroSpec(type: PropertyMarkerMacro.self),
    "JSON": MacroSpec(type: PropertyMarkerMacro.self),
    "Transient": MacroSpec(type: PropertyMarkerMacro.self),
]

import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import StoreMacros

/// Checks the expansion of the model macros in `source`.
///
/// - Parameters:
///   - expanded: The whole source after expansion.
///   - fixed: The source after every fix-it; nil when there is none.
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

/// Checks that `source` is refused at `line` and `column` with `message`, and does not change.
///
/// - Parameter expanded: The source after expansion, when more than the attributes at the start of its lines
///   differs.
func expectProblem(
    _ message: String, in source: String, line: Int, column: Int, fixIt: String? = nil, fixed: String? = nil,
    expanded: String? = nil, fileID: String = #fileID, filePath: String = #filePath, testLine: Int = #line
) {
    expectExpansion(
        of: source, to: expanded ?? source.unmarked.withPlaceholder,
        diagnostics: [
            DiagnosticSpec(
                message: message, line: line, column: column, fixIts: fixIt.map { [FixItSpec(message: $0)] } ?? [])
        ],
        fixed: fixed, fileID: fileID, filePath: filePath, line: testLine)
}

/// A member of a model with a key, and the message about it.
struct Misuse: Sendable, CustomTestStringConvertible {
    let member: String
    let message: String
    let column: Int
    let fixIt: String?
    /// The member after the fix-it.
    let fixed: String?
    var testDescription: String { member }

    /// - Parameter column: The column of the message, counted with the four spaces before the member.
    init(_ member: String, _ message: String, column: Int, fixIt: String? = nil, fixed: String? = nil) {
        self.member = member
        self.message = message
        self.column = column
        self.fixIt = fixIt
        self.fixed = fixed
    }

    /// Checks the member in a model of this kind of type.
    func expect(
        in type: String = "final class", fileID: String = #fileID, filePath: String = #filePath, testLine: Int = #line
    ) {
        func model(_ member: String) -> String {
            """
            @Model
            \(type) Person {
                var id: Int64
                \(member)
            }
            """
        }
        expectProblem(
            message, in: model(member), line: 4, column: column, fixIt: fixIt, fixed: fixed.map(model),
            fileID: fileID, filePath: filePath, testLine: testLine)
    }
}

extension String {
    /// The text with the members that a class with a mistake gets, so that the mistake is the only message.
    var withPlaceholder: String {
        guard contains("class ") || contains("actor "), !contains(" init("), hasSuffix("\n}") else { return self }
        return dropLast(2) + """


                private init() {
                    preconditionFailure()
                }\(listMembers)\(conformance)
            }\(extensions)
            """
    }

    private var isFinal: Bool { contains("final class ") }

    /// What a class gets besides that is not final, without `indexes`.
    private var conformance: String {
        guard !isFinal, let name = firstMatch(of: /class (\w+)/)?.1 else { return "" }
        let access = contains("open class ") ? "public " : ""
        return """


                \(access)typealias Columns = \(name)

                \(access)typealias ID = Int64

                \(access)typealias Fields = Store._NonfinalFields<Int64>

                \(access)static func _make(_ fields: Fields, _ start: Store.RegistrationContext) -> Self {
                    preconditionFailure()
                }

                \(access)static func _read(
                    _ row: Store.RowCursor, _ start: Store.RegistrationContext
                ) throws -> Self {
                    preconditionFailure()
                }
            """
    }

    /// The conformances of a class that is not final.
    private var extensions: String {
        guard !isFinal, let name = firstMatch(of: /class (\w+)/)?.1 else { return "" }
        return """


            @available(*, unavailable, message: "a model is a final class")
            extension \(name): nonisolated Store.TableModel, nonisolated Store.Model {
            }

            @available(*, unavailable, message: "a class is a live model: read its objects with queries")
            extension \(name): nonisolated Store.ValueModel {
            }
            """
    }

    /// What a class with `indexes` gets besides.
    private var listMembers: String {
        guard contains(" indexes = "), let name = firstMatch(of: /class (\w+)/)?.1 else { return "" }
        return """


                private typealias Columns = \(name)

                private static func Index<each V>(
                    _ columns: repeat KeyPath<\(name), each V>, unique: Bool = false, where condition: String? = nil
                ) -> Store.Index {
                    preconditionFailure()
                }

                private static func Index(
                    _ columns: String..., unique: Bool = false, where condition: String? = nil
                ) -> Store.Index {
                    preconditionFailure()
                }

                private static func ForeignKey<V>(
                    _ reference: KeyPath<\(name), V>, onDelete action: Store.ForeignKey.Action = .refuse
                ) -> Store.ForeignKey {
                    preconditionFailure()
                }

                private static func TextIndex<each V>(
                    _ columns: repeat KeyPath<\(name), each V>, tokenizer: Store.TextIndex.Tokenizer = .words,
                    prefixes: [Int] = [], name: String? = nil
                ) -> Store.TextIndex {
                    preconditionFailure()
                }

                private static func TextIndex(
                    _ columns: String..., tokenizer: Store.TextIndex.Tokenizer = .words, prefixes: [Int] = [],
                    name: String? = nil
                ) -> Store.TextIndex {
                    preconditionFailure()
                }
            """
    }

    /// The text without the attributes of the model macros at the start of a line, as an expansion has it.
    fileprivate var unmarked: String {
        split(separator: "\n", omittingEmptySubsequences: false).compactMap { line -> String? in
            let indentation = line.prefix { $0 == " " }
            var rest = line.dropFirst(indentation.count)
            while let length = rest.markerLength {
                rest = rest.dropFirst(length).drop { $0 == " " }
                if rest.isEmpty { return nil }
            }
            return String(indentation) + String(rest)
        }.joined(separator: "\n")
    }
}

extension Substring {
    /// The length of the model macro's attribute at the start of this text.
    fileprivate var markerLength: Int? {
        guard first == "@" else { return nil }
        let name = dropFirst().prefix { $0.isLetter }
        guard macros[String(name)] != nil else { return nil }
        var length = 1 + name.count
        guard dropFirst(length).first == "(" else { return length }
        var depth = 0
        for character in dropFirst(length) {
            length += 1
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            if depth == 0 { break }
        }
        return length
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

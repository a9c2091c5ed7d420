// The columns in the code of a model, and its schema.

extension ModelDeclaration {
    /// The struct `Columns`, whose key paths name columns in queries, and its only value.
    ///
    /// The declaration of a column is where the compiler reports a type that a column cannot store.
    ///
    /// - Parameter type: The model's name where the declarations are.
    func columnDeclarations(of type: String, _ place: PropertyPlace) -> [String] {
        let codings = columns.compactMap { column in column.unknownCoding.map { declaration(of: $0, column, place) } }
        return [
            """
            nonisolated \(access)struct Columns: Sendable {
            \(lines(Array(columns.enumerated())) { place.mark($0.element, "    \($0.element.access)let \($0.element.name) = \(column(of: type, $0.element))(\(requirement($0.element))\($0.offset)\($0.element.codingArgument))") })
                fileprivate init() {}\(codings.map { "\n\($0)" }.joined())
            }
            """, "\(access)static let columns = Columns()",
        ]
    }

    private func column(of type: String, _ property: ModelProperty) -> String {
        property.takesType
            ? "Store.PropertyType.column(\\\(type).\(property.name)).init"
            : "Store.Column<\(type), \(property.type)>"
    }

    private func declaration(of coding: UnknownCoding, _ column: ModelProperty, _ place: PropertyPlace) -> String {
        """
            enum \(coding.name): Store.UnknownCaseCoding {
                typealias Property = \(coding.type)
                static var unknown: Property {
        \(place.mark(column, "            \(coding.value)"))
                }
            }
        """
    }

    /// The label of a column whose type must be a key, or have a placeholder.
    private func requirement(_ property: ModelProperty) -> String {
        guard kind == .liveClass, !property.isKnown else { return "" }
        if property.isKey { return property.isRequired ? "requiredKey: " : "key: " }
        return property.isRequired ? "required: " : ""
    }

    /// The declaration `static let schema`: table, columns and key at run time.
    var schemaDeclaration: String {
        let columns = columns.map { column in
            "Store.ColumnDescription(\(column.column.swiftLiteral), property: \(column.name.unquoted.swiftLiteral), "
                + "type: \(column.type.swiftLiteral), isOptional: \(column.isOptional))"
        }
        return """
            \(access)static let schema = Store.ModelSchema(
                table: \(table.swiftLiteral),
                columns: [
            \(lines(columns) { "        \($0)," })
                ],
                key: [\(keyPositions.map(String.init).joined(separator: ", "))])
            """
    }
}

/// Joins one line for each element; without elements, no line.
func lines<Element>(_ elements: [Element], _ line: (Element) -> String) -> String {
    elements.map(line).joined(separator: "\n")
}

/// Generates the members that `@Model` adds to a struct: an initializer that reads a row by column names.
struct ValueModelExpansion {
    let model: ModelDeclaration
    /// The struct's name with those of the types around it, which an extension does not see.
    let type: String
    let place: PropertyPlace

    var body: String {
        """
        \(model.schemaDeclaration)

        \(model.columnDeclarations(of: type, place).joined(separator: "\n\n"))

        \(model.access)init(_row row: Store.NamedRow) throws {
        \(lines(Array(model.columns.enumerated())) { "    \(read($0.element, at: $0.offset))" })
        }
        """
    }

    /// A property whose column is missing in the SELECT keeps its default value, if it has one.
    private func read(_ property: ModelProperty, at position: Int) -> String {
        let value = "try row.read(\(position)\(property.codingArgument))"
        let name = "self.\(property.name)"
        if property.initializer != nil || (property.isOptional && !property.isConstant) {
            return "if row.has(\(position)) { \(name) = \(value) }"
        }
        return property.isOptional ? "\(name) = row.has(\(position)) ? \(value) : nil" : "\(name) = \(value)"
    }
}

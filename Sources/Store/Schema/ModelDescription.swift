import Foundation

/// What a model says of its table, in a form for other programs: ``Model/schemaDescription``.
///
/// ```swift
/// print(try Person.schemaDescription.json)
/// ```
public struct ModelDescription: Codable, Hashable, Sendable {
    public struct Column: Codable, Hashable, Sendable {
        public let name: String
        public let property: String
        /// The property's type in Swift.
        public let type: String
        public let optional: Bool
        public let storage: ColumnStorage
    }

    public let table: String
    public let columns: [Column]
    /// The names of the key's columns.
    public let key: [String]
    public let keySource: KeySource
    public let indexes: [Index]
    public let textIndexes: [TextIndex]

    private enum CodingKeys: String, CodingKey {
        case table, columns, key, indexes
        case keySource = "key_source"
        case textIndexes = "text_indexes"
    }

    /// JSON with sorted names.
    public var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }
}

extension Model {
    /// The model's table, columns, key and indexes, exportable as JSON.
    public static var schemaDescription: ModelDescription {
        ModelDescription(
            table: schema.table,
            columns: schema.columns.enumerated().map { position, column in
                .init(
                    name: column.name, property: column.property, type: column.type, optional: column.isOptional,
                    storage: Fields._storage[position])
            },
            key: schema.key.map { schema.columns[$0].name }, keySource: Fields._keySource, indexes: indexes,
            textIndexes: textIndexes)
    }
}

import Foundation

/// A model's declaration of its table, in a form for other programs: ``Model/schemaDescription``.
///
/// ```swift
/// print(try Person.schemaDescription.json)
/// ```
public struct ModelDescription: Codable, Hashable, Sendable {
    /// One column and its property.
    public struct Column: Codable, Hashable, Sendable {
        /// The column's name in the table.
        public let name: String
        /// The property's name in the model.
        public let property: String
        /// The property's type in Swift.
        public let type: String
        /// True when the property is optional; NULL decodes as nil.
        public let optional: Bool
        /// The storage class of the values.
        public let storage: ColumnStorage
    }

    /// The table's name.
    public let table: String
    /// The columns, in the order of the source.
    public let columns: [Column]
    /// The names of the key's columns.
    public let key: [String]
    /// The source of keys for rows without one.
    public let keySource: KeySource
    /// The indexes that the model declares.
    public let indexes: [Index]
    /// The full-text indexes that the model declares.
    public let textIndexes: [TextIndex]

    private enum CodingKeys: String, CodingKey {
        case table, columns, key, indexes
        case keySource = "key_source"
        case textIndexes = "text_indexes"
    }

    /// JSON with sorted names.
    ///
    /// - Throws: What `JSONEncoder` throws; a description contains nothing that it refuses.
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
                    storage: Fields._columns[position]._storage)
            },
            key: schema.key.map { schema.columns[$0].name }, keySource: Fields._keySource, indexes: allIndexes,
            textIndexes: textIndexes)
    }
}

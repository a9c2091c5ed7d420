import Journal

/// A reference of a model that SQLite itself keeps: a row must exist under the key, and deleting it acts on the rows that
/// refer to it. An automatic schema writes it as `REFERENCES … ON DELETE …`.
///
/// ```swift
/// @Model
/// final class Score {
///     var id: Int64
///     var player: Ref<Player>?
///     var points: Int = 0
///
///     static let foreignKeys = [ForeignKey(\.player, onDelete: .setNull)]
/// }
/// ```
///
/// A table that lacks the clause is reported (``SchemaReport/notDone``), and rebuilt with it when
/// ``DestructiveSteps/rebuildTables`` is allowed. A clause that the model declares no more stays.
public struct ForeignKey: Sendable {
    /// What deleting the row does to the rows that refer to it.
    public enum Action: String, Codable, Sendable {
        /// The deletion is refused with ``StoreError/Code/foreignKey``.
        case refuse = "NO ACTION"
        /// They are deleted as well.
        case cascade = "CASCADE"
        /// Their reference becomes nil. Opening throws ``StoreError/Code/invalidSchema`` when the reference is not
        /// optional.
        case setNull = "SET NULL"
    }

    /// The position of the reference in the schema of its model.
    let position: Int
    let action: Action
    private let target: @Sendable () -> ModelSchema

    /// Declares that the row of a reference must exist.
    ///
    /// - Parameters:
    ///   - reference: The column of the reference: `\.player` in the body of the model, `\Score.Columns.player`
    ///     elsewhere.
    ///   - action: What deleting the other row does to the rows that refer to it.
    public init<M, Target>(_ reference: ColumnPath<M, Ref<Target>>, onDelete action: Action = .refuse) {
        position = M.columns[keyPath: reference].position
        self.action = action
        target = { Target.schema }
    }

    /// Declares that the row of an optional reference must exist.
    ///
    /// - Parameters:
    ///   - reference: The column of the reference: `\.player` in the body of the model, `\Score.Columns.player`
    ///     elsewhere.
    ///   - action: What deleting the other row does to the rows that refer to it.
    public init<M, Target>(_ reference: ColumnPath<M, Ref<Target>?>, onDelete action: Action = .refuse) {
        position = M.columns[keyPath: reference].position
        self.action = action
        target = { Target.schema }
    }

    /// The clause of the column.
    var sql: String {
        let parent = target()
        let key = parent.key.map { SQLText.quote(identifier: parent.columns[$0].name) }.joined(separator: ", ")
        let clause = "REFERENCES \(SQLText.quote(identifier: parent.table)) (\(key))"
        return action == .refuse ? clause : "\(clause) ON DELETE \(action.rawValue)"
    }
}

extension Model {
    /// None.
    public static var foreignKeys: [ForeignKey] { [] }

    /// The declared indexes, and one for each reference that begins none of them and not the key: finding the rows that
    /// refer to an object would otherwise read the whole table.
    static var allIndexes: [Index] {
        var first = Set(
            indexes.filter { $0.condition == nil }.compactMap(\.columns.first).compactMap {
                try? schema.columnName(of: $0)
            })
        if let key = schema.key.first { first.insert(schema.columns[key].name) }
        let references = Fields._columns.enumerated().filter { $0.element._isReference }.map {
            schema.columns[$0.offset].name
        }
        return indexes + references.filter { !first.contains($0) }.map { Index($0) }
    }
}

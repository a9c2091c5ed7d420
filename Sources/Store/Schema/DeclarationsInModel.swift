// What `Index(\.title)`, `ForeignKey(\.player)` and `TextIndex(\.title)` mean in the body of a model. An initializer of
// `Index` cannot know the model in which it is called. A static function of the model knows it, and the compiler finds a
// member before a type of the same name.

extension Model {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Declares an index of this model on columns that the compiler checks, in ``indexes``:
    /// `static let indexes = [Index(\.lastName, \.firstName)]`.
    ///
    /// - Parameters:
    ///   - column: The column that most queries use.
    ///   - others: The columns by which rows with equal values in `column` are ordered.
    ///   - unique: True to refuse rows with equal values. Opening throws ``StoreError/Code/unique`` when such
    ///     rows exist.
    ///   - condition: The condition of a partial index, as SQL; nil for all rows.
    public static func Index<First, each V>(
        _ column: ColumnPath<Self, First>, _ others: repeat ColumnPath<Self, each V>, unique: Bool = false,
        where condition: String? = nil
    ) -> Store.Index {
        Store.Index(column, repeat each others, unique: unique, where: condition)
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Declares an index of this model by the names of properties or columns.
    ///
    /// - Parameters:
    ///   - columns: One or more names, beginning with the column that most queries use.
    ///   - unique: True to refuse rows with equal values.
    ///   - condition: The condition of a partial index, as SQL; nil for all rows.
    public static func Index(_ columns: String..., unique: Bool = false, where condition: String? = nil) -> Store.Index
    {
        Store.Index(names: columns, unique: unique, where: condition)
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Declares that the row of a reference must exist, in ``foreignKeys``:
    /// `static let foreignKeys = [ForeignKey(\.player, onDelete: .cascade)]`.
    ///
    /// - Parameters:
    ///   - reference: The column of the reference.
    ///   - action: What deleting the other row does to the rows that refer to it.
    public static func ForeignKey<Target>(
        _ reference: ColumnPath<Self, Ref<Target>>, onDelete action: Store.ForeignKey.Action = .refuse
    ) -> Store.ForeignKey { Store.ForeignKey(reference, onDelete: action) }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Declares that the row of an optional reference must exist, in ``foreignKeys``:
    /// `static let foreignKeys = [ForeignKey(\.player, onDelete: .setNull)]`.
    ///
    /// - Parameters:
    ///   - reference: The column of the reference.
    ///   - action: What deleting the other row does to the rows that refer to it.
    public static func ForeignKey<Target>(
        _ reference: ColumnPath<Self, Ref<Target>?>, onDelete action: Store.ForeignKey.Action = .refuse
    ) -> Store.ForeignKey { Store.ForeignKey(reference, onDelete: action) }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Declares a full-text index of this model on columns that the compiler checks, in ``textIndexes``:
    /// `static let textIndexes = [TextIndex(\.title, \.body, tokenizer: .english)]`.
    ///
    /// The parameters are those of the initializer of the type.
    public static func TextIndex<First, each V>(
        _ column: ColumnPath<Self, First>, _ others: repeat ColumnPath<Self, each V>,
        tokenizer: Store.TextIndex.Tokenizer = .words, prefixes: [Int] = [], name: String? = nil
    ) -> Store.TextIndex {
        var names = [columns[keyPath: column].name]
        for other in repeat each others { names.append(columns[keyPath: other].name) }
        return Store.TextIndex(names: names, tokenizer: tokenizer, prefixes: prefixes, name: name)
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Declares a full-text index of this model by the names of properties or columns.
    ///
    /// The parameters are those of the initializer of the type.
    public static func TextIndex(
        _ columns: String..., tokenizer: Store.TextIndex.Tokenizer = .words, prefixes: [Int] = [], name: String? = nil
    ) -> Store.TextIndex { Store.TextIndex(names: columns, tokenizer: tokenizer, prefixes: prefixes, name: name) }
}

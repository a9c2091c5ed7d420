/// The types of the static properties that Store reads from a model. Only the macro's code calls these functions, so
/// that the compiler refuses a property of another type, which Store would not see.
public enum DeclaredType {
    /// Accepts ``Model/indexes``.
    public static func indexes(_ list: [Index]) {}
    /// Accepts ``Model/textIndexes``.
    public static func textIndexes(_ list: [TextIndex]) {}
    /// Accepts ``Model/foreignKeys``.
    public static func foreignKeys(_ list: [ForeignKey]) {}
    /// Accepts ``Model/cachePolicy``.
    public static func cachePolicy(_ policy: CachePolicy) {}
    /// Accepts ``TableModel/unreadableRows``.
    public static func unreadableRows(_ rows: UnreadableRows) {}

    /// Refuses another type.
    @_disfavoredOverload
    @available(*, unavailable, message: "'indexes' is a list of 'Index', such as '[Index(\\.title)]'")
    public static func indexes<Other>(_ list: Other) {}
    /// Refuses another type.
    @_disfavoredOverload
    @available(*, unavailable, message: "'textIndexes' is a list of 'TextIndex', such as '[TextIndex(\\.title)]'")
    public static func textIndexes<Other>(_ list: Other) {}
    /// Refuses another type.
    @_disfavoredOverload
    @available(*, unavailable, message: "'foreignKeys' is a list of 'ForeignKey', such as '[ForeignKey(\\.owner)]'")
    public static func foreignKeys<Other>(_ list: Other) {}
    /// Refuses another type.
    @_disfavoredOverload
    @available(*, unavailable, message: "'cachePolicy' is a 'CachePolicy', such as 'CachePolicy.weak'")
    public static func cachePolicy<Other>(_ policy: Other) {}
    /// Refuses another type.
    @_disfavoredOverload
    @available(*, unavailable, message: "'unreadableRows' is an 'UnreadableRows', such as 'UnreadableRows.skip'")
    public static func unreadableRows<Other>(_ rows: Other) {}
}

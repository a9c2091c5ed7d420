/// The names of members that `@Model` generates. The type's own members cannot have these names.
///
/// Names with a leading underscore belong to the expansion; the others are public. Instance members and
/// static members do not conflict, so static names such as `count` or `query` are free for properties.
enum ReservedNames {
    /// Names of instance members and types that a stored property would hide or redeclare.
    static func ofProperties(_ kind: ModelDeclaration.Kind) -> Set<String> {
        switch kind {
        case .liveClass: classMembers.union(fieldsMembers).union(ofTypes(kind))
        case .value: ofTypes(kind)
        }
    }

    /// Names that the expansion declares in the type itself, so that a computed or static property of the
    /// same name would not compile. A property that only hides a member of the protocol compiles.
    static func ofOtherProperties(_ kind: ModelDeclaration.Kind, isShared: Bool) -> Set<String> {
        if isShared { return ["schema", "columns"] }
        return kind == .liveClass ? ["database", "_storage", "_exactKey", "_status", "_isObserved"] : []
    }

    /// Names of types inside the model.
    static func ofTypes(_ kind: ModelDeclaration.Kind) -> Set<String> {
        kind == .liveClass ? ["Fields", "ID", "Columns"] : ["Columns"]
    }

    /// Names in the struct `ID` of a composite key, besides the parts of the key.
    static let ofKeyParts: Set<String> = ["exact", "exactBytes", "appendExact", "hashValue"]

    /// Members that the class declares, and members of `Model` and `PendingChange`. `related` and `live` are
    /// missing because they are only called with arguments, which distinguishes them from a property.
    private static let classMembers: Set<String> = [
        "database", "schema", "columns", "values", "encodedValues",
        "rowState", "isNew", "isDeleted", "existsInDatabase", "refreshError",
        "save", "saveChanges", "edit", "delete", "reload", "changes",
        "exportJSON", "insertStatement", "updateStatement", "upsertStatement", "deleteStatement",
        "willInsert", "willUpdate", "willDelete", "didInsert", "didUpdate", "didDelete",
        "_storage", "_make", "_read", "_offer", "_exactKey", "_status", "_withState", "_announce", "_observeState",
        "_observeValues", "_isObserved", "_look",
    ]

    /// Members that `Fields` declares in addition to a property for each property of the class.
    private static let fieldsMembers: Set<String> = [
        "_unset", "_key", "_keyValues", "_exact", "_generated", "_keySource", "_bind", "_bindAll", "_bindKey",
        "_changes", "_take",
        "_takeTransient", "_normalize", "_value", "_set", "_columns",
    ]
}

/// The names that `@Model` gives to the members of a type, which its own members cannot have.
///
/// Names beginning with an underscore are those of the expansion; the others are public. Instance members and static
/// members do not meet, so `count` or `query`, which are static, are free for properties.
enum ReservedNames {
    /// Names of instance members and types, which a stored property would hide or declare again.
    static func ofProperties(_ kind: ModelDeclaration.Kind) -> Set<String> {
        switch kind {
        case .liveClass: classMembers.union(fieldsMembers).union(ofTypes(kind))
        case .value: ofTypes(kind)
        }
    }

    /// Names that the expansion declares in the type itself, where a computed or static property of the same name would
    /// not compile. One that only hides a member of the protocol does.
    static func ofOtherProperties(_ kind: ModelDeclaration.Kind, isShared: Bool) -> Set<String> {
        if isShared { return ["schema", "columns"] }
        return kind == .liveClass ? ["database", "_storage", "_exactKey", "_status", "_isObserved"] : []
    }

    /// Names of types inside of the model.
    static func ofTypes(_ kind: ModelDeclaration.Kind) -> Set<String> {
        kind == .liveClass ? ["Fields", "ID", "Columns"] : ["Columns"]
    }

    /// Names in the struct `ID` of a composite key, beside the parts of the key.
    static let ofKeyParts: Set<String> = ["exact", "exactBytes", "appendExact", "hashValue"]

    /// What the class declares, and what `Model` and `PendingChange` give it; but for `related` and `live`, which are only
    /// called with arguments, and so are told from a property.
    private static let classMembers: Set<String> = [
        "database", "schema", "columns", "values", "encodedValues",
        "rowState", "isNew", "isDeleted", "existsInDatabase", "refreshError",
        "save", "saveChanges", "edit", "delete", "reload", "changes",
        "exportJSON", "insertStatement", "updateStatement", "upsertStatement", "deleteStatement",
        "willInsert", "willUpdate", "willDelete", "didInsert", "didUpdate", "didDelete",
        "_storage", "_make", "_read", "_offer", "_exactKey", "_status", "_withState", "_announce", "_observeState",
        "_isObserved",
    ]

    /// What `Fields` declares, where every property of the class stands once more.
    private static let fieldsMembers: Set<String> = [
        "_unset", "_key", "_keyValues", "_keySource", "_bind", "_bindAll", "_bindKey", "_changes", "_take",
        "_takeTransient", "_normalize", "_value", "_set",
    ]
}

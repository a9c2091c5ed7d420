// Conditions on references, with the objects that they refer to.

/// The reference is to the row of `object`.
public func == <M, Target>(path: ColumnPath<M, Ref<Target>>, object: Target) -> Condition<M> {
    .equal(path, Ref(object))
}
/// The reference is to the row of `object`.
public func == <M, Target>(path: ColumnPath<M, Ref<Target>?>, object: Target) -> Condition<M> {
    .equal(path, Ref(object))
}
/// The reference is not to the row of `object`.
public func != <M, Target>(path: ColumnPath<M, Ref<Target>>, object: Target) -> Condition<M> {
    .different(path, Ref(object))
}
/// The reference is not to the row of `object`, from which NULL differs.
public func != <M, Target>(path: ColumnPath<M, Ref<Target>?>, object: Target) -> Condition<M> {
    .different(path, Ref(object))
}

// Disfavoured, because a literal nil or an empty list is one of references as well.

/// The reference is to the row of `object`; nil means NULL.
@_disfavoredOverload
public func == <M, Target>(path: ColumnPath<M, Ref<Target>?>, object: Target?) -> Condition<M> {
    .equal(path, object.map { Ref($0) })
}
/// The reference is not to the row of `object`. NULL differs from every row, and nil means NULL.
@_disfavoredOverload
public func != <M, Target>(path: ColumnPath<M, Ref<Target>?>, object: Target?) -> Condition<M> {
    .different(path, object.map { Ref($0) })
}

extension Condition {
    /// The reference is to the row of one of `objects`; without objects, no row matches. A list of any length is one
    /// query.
    @_disfavoredOverload
    public static func `in`<Target>(_ path: ColumnPath<M, Ref<Target>>, _ objects: some Sequence<Target>) -> Condition {
        .in(path, objects.map { Ref($0) })
    }

    /// The reference is to the row of one of `objects`; without objects, no row matches. A list of any length is one
    /// query.
    @_disfavoredOverload
    public static func `in`<Target>(
        _ path: ColumnPath<M, Ref<Target>?>, _ objects: some Sequence<Target>
    ) -> Condition { .in(path, objects.map { Ref($0) as Ref<Target>? }) }
}

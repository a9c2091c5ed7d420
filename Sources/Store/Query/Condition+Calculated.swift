// Comparisons of a column with a calculated value, of which one may be NULL and the other not: `\.limit > \.seats * 2`.
// Two of the same type are compared by the operators in `Condition.swift`, which the compiler prefers.

/// The column equals the expression; NULL equals NULL.
@_disfavoredOverload
public func == <M, V: ColumnValue, W: ColumnValue>(
    path: ColumnPath<M, V>, value: ColumnExpression<M, W>
) -> Condition<M> where V.Unwrapped == W.Unwrapped { .compare(path, "IS", value.template) }
/// The column differs from the expression; NULL equals only NULL.
@_disfavoredOverload
public func != <M, V: ColumnValue, W: ColumnValue>(
    path: ColumnPath<M, V>, value: ColumnExpression<M, W>
) -> Condition<M> where V.Unwrapped == W.Unwrapped { .compare(path, "IS NOT", value.template) }
/// The column is less than the expression; false when one of them is NULL.
@_disfavoredOverload
public func < <M, V: ColumnValue, W: ColumnValue>(
    path: ColumnPath<M, V>, value: ColumnExpression<M, W>
) -> Condition<M> where V.Unwrapped == W.Unwrapped, V.Unwrapped: Comparable { .order(path, "<", value.template) }
/// The column is less than or equal to the expression; false when one of them is NULL.
@_disfavoredOverload
public func <= <M, V: ColumnValue, W: ColumnValue>(
    path: ColumnPath<M, V>, value: ColumnExpression<M, W>
) -> Condition<M> where V.Unwrapped == W.Unwrapped, V.Unwrapped: Comparable { .order(path, "<=", value.template) }
/// The column is greater than the expression; false when one of them is NULL.
@_disfavoredOverload
public func > <M, V: ColumnValue, W: ColumnValue>(
    path: ColumnPath<M, V>, value: ColumnExpression<M, W>
) -> Condition<M> where V.Unwrapped == W.Unwrapped, V.Unwrapped: Comparable { .order(path, ">", value.template) }
/// The column is greater than or equal to the expression; false when one of them is NULL.
@_disfavoredOverload
public func >= <M, V: ColumnValue, W: ColumnValue>(
    path: ColumnPath<M, V>, value: ColumnExpression<M, W>
) -> Condition<M> where V.Unwrapped == W.Unwrapped, V.Unwrapped: Comparable { .order(path, ">=", value.template) }

import Foundation

// A Decimal is stored as text with all its digits, and texts stand in another order: '9' behind '10'. Refused when
// compiling; an order that is right up to a double's digits is spelled `.sql("CAST(price AS REAL) > 9")`.

@available(
    *, unavailable, message: "a Decimal is stored as text, whose order is another; write .sql(\"CAST(… AS REAL) < …\")"
)
public func < <M>(path: ColumnPath<M, Decimal>, value: Decimal) -> Condition<M> { .all }

@available(
    *, unavailable, message: "a Decimal is stored as text, whose order is another; write .sql(\"CAST(… AS REAL) <= …\")"
)
public func <= <M>(path: ColumnPath<M, Decimal>, value: Decimal) -> Condition<M> { .all }

@available(
    *, unavailable, message: "a Decimal is stored as text, whose order is another; write .sql(\"CAST(… AS REAL) > …\")"
)
public func > <M>(path: ColumnPath<M, Decimal>, value: Decimal) -> Condition<M> { .all }

@available(
    *, unavailable, message: "a Decimal is stored as text, whose order is another; write .sql(\"CAST(… AS REAL) >= …\")"
)
public func >= <M>(path: ColumnPath<M, Decimal>, value: Decimal) -> Condition<M> { .all }

@available(
    *, unavailable, message: "a Decimal is stored as text, whose order is another; write .sql(\"CAST(… AS REAL) < …\")"
)
public func < <M>(path: ColumnPath<M, Decimal?>, value: Decimal) -> Condition<M> { .all }

@available(
    *, unavailable, message: "a Decimal is stored as text, whose order is another; write .sql(\"CAST(… AS REAL) <= …\")"
)
public func <= <M>(path: ColumnPath<M, Decimal?>, value: Decimal) -> Condition<M> { .all }

@available(
    *, unavailable, message: "a Decimal is stored as text, whose order is another; write .sql(\"CAST(… AS REAL) > …\")"
)
public func > <M>(path: ColumnPath<M, Decimal?>, value: Decimal) -> Condition<M> { .all }

@available(
    *, unavailable, message: "a Decimal is stored as text, whose order is another; write .sql(\"CAST(… AS REAL) >= …\")"
)
public func >= <M>(path: ColumnPath<M, Decimal?>, value: Decimal) -> Condition<M> { .all }

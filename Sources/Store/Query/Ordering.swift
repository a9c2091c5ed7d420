/// Which rows come first in an order.
public enum OrderDirection: Hashable, Sendable {
    /// Smallest first; NULL comes first.
    case ascending
    /// Greatest first; NULL comes last.
    case descending
}

/// One term of an ORDER BY.
///
/// ```swift
/// Person.where(\.age > 30).order(by: \.name)
/// Person.where(\.age > 30).order(.descending(\.age), .ascending(\.name), .sql("random()"))
/// ```
public struct Ordering<M: TableModel>: Sendable {
    /// The value by which rows are ordered; for raw SQL the whole term.
    let value: Template<M>
    /// nil for raw SQL, which may contain a direction.
    let direction: OrderDirection?

    /// The term.
    var template: Template<M> { direction == .descending ? value + " DESC" : value }

    /// Smallest first; NULL comes first.
    public static func ascending<V>(_ path: ColumnPath<M, V>) -> Ordering { Ordering(path, .ascending) }

    /// Greatest first; NULL comes last.
    public static func descending<V>(_ path: ColumnPath<M, V>) -> Ordering { Ordering(path, .descending) }

    /// Raw SQL.
    public static func sql(_ sql: SQL) -> Ordering { Ordering(value: Template(sql), direction: nil) }

    init<V>(_ path: ColumnPath<M, V>, _ direction: OrderDirection) {
        self.init(value: Template(ordered: path), direction: direction)
    }

    init(value: Template<M>, direction: OrderDirection?) {
        self.value = value
        self.direction = direction
    }
}

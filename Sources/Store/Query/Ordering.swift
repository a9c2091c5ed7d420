/// One term of an ORDER BY.
///
/// ```swift
/// Person.where(\.age > 30).order(by: \.name)
/// Person.where(\.age > 30).order(.descending(\.age), .ascending(\.name), .sql("random()"))
/// ```
public struct Ordering<M: TableModel>: Sendable {
    let template: Template<M>

    /// Smallest first; NULL comes first.
    public static func ascending<V>(_ path: ColumnPath<M, V>) -> Ordering {
        Ordering(template: Template(ordered: path))
    }

    /// Greatest first; NULL comes last.
    public static func descending<V>(_ path: ColumnPath<M, V>) -> Ordering {
        Ordering(template: Template(ordered: path) + " DESC")
    }

    /// Raw SQL.
    public static func sql(_ sql: SQL) -> Ordering { Ordering(template: Template(sql)) }
}

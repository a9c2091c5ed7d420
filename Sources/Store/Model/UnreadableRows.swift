import Journal
import Logging

/// What lists of a model do with a row that holds a value which its property's type cannot read, such as an enum
/// case of a newer release.
///
/// ```swift
/// @Model
/// final class Post {
///     static var unreadableRows: UnreadableRows { .skip }
///     var id: Int64
///     var status: Status = .draft
/// }
/// ```
///
/// It applies wherever whole rows are read as a list: queries, `first`, pages, batches, searches, relations, live
/// lists, and `find` with several keys. What asks for one row by its key throws in both cases, and so do joins and
/// selected columns: a pair or a value that misses would be taken for a row that is not there.
public enum UnreadableRows: Sendable {
    /// The read fails with ``StoreError/Code/undecodable``, which names table, key and column. The default.
    case fail
    /// The row is left out. Each time, ``Database/Options/onFailure`` receives the error, and
    /// ``StoreMetrics/skippedRows`` grows; the logger gets a warning for the first row of each table. Counts and
    /// conditions still include the row, and a page may have fewer rows than its size.
    case skip
}

extension TableModel {
    /// ``UnreadableRows/fail``.
    public static var unreadableRows: UnreadableRows { .fail }
}

extension AccessContext {
    /// Reports a row of a list that could not be read, so that the list goes on without it.
    ///
    /// - Throws: `error`, unless a value could not be decoded and the model skips such rows.
    func skip<M: TableModel>(_ type: M.Type, _ error: any Error) throws {
        guard let error = error as? StoreError, error.code == .undecodable, M.unreadableRows == .skip else {
            throw error
        }
        database.skipped(error.during("fetching", table: M.schema.table))
    }
}

extension Database {
    fileprivate func skipped(_ error: StoreError) {
        if counters.countSkippedRow(of: error.table ?? "") {
            options.logger?.warning("skipping rows of \(error.table ?? "a table") in \(path): \(error)")
        }
        options.onFailure?(error)
    }
}

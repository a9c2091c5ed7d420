import GRDB
import Journal

/// An object whose row got another key, because another machine had chosen the same key for another row.
struct MovedObject<M: Model>: Refreshable {
    let object: M
    /// The key of the row; nil when the row has another object already.
    let key: M.ID?

    func refresh(_ db: GRDB.Database, asOf position: Int64, _ publication: Publication) throws {
        let isWanted = publication.wants(object)
        let row = try row(db)
        typealias Values = (fields: M.Fields, status: RowStatus)
        let change = object._withState { state -> (before: Values, after: Values)? in
            let before = isWanted ? (fields: state.fields, status: state.status) : nil
            if let row { state.offer(row, asOf: position) } else { state.offerAbsence(asOf: position) }
            return before.map { ($0, (fields: state.fields, status: state.status)) }
        }
        if let change { publication.note(object, before: change.before, after: change.after) }
    }

    func markStale(before position: Int64) { RefreshableObject<M>(object: object).markStale(before: position) }

    /// The new key is committed, so the object keeps it when the transaction is rolled back.
    func refresh(in context: WriteContext) throws {
        let row = try row(context.db)
        let changes = object._withState { state -> ColumnSet? in
            let before = state.fields
            if let row { state.offer(row, asOf: state.asOf) } else { state.offerAbsence(asOf: state.asOf) }
            return object._isObserved ? state.fields._changes(from: before) : nil
        }
        // No lock is held, because observers run code of the caller.
        if let changes { object._announce(changes, transients: false, status: row == nil) }
        try RefreshableObject<M>(object: object).refresh(in: context)
    }

    private func row(_ db: GRDB.Database) throws -> M.Fields? {
        do {
            return try key.flatMap { try M.select($0, db) }
        } catch let error as StoreError where error.code == .undecodable {
            object._withState { $0.refreshError = error.during("refreshing", table: M.schema.table) }
            return nil
        }
    }
}

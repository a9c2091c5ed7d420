import GRDB
import Journal

extension WriteContext {
    /// Updates capture after a change of the schema, in the same transaction; while a migration runs, at its
    /// end.
    func schemaChanged() throws {
        if isCaptureDue != nil { isCaptureDue = true }
        try followSchema { if isCaptureDue == nil { try Capture.refresh(db) } }
    }

    /// Runs the statements of a migration, and updates capture once at their end.
    ///
    /// What the migration does to rows that it finds is then told from what users wrote
    /// (`Capture.refresh(_:isMigration:)`), and helper tables that it drops again are never captured.
    func migrating(_ body: () throws -> Void) throws {
        isCaptureDue = false
        defer { isCaptureDue = nil }
        try body()
        if isCaptureDue == true { try followSchema { try Capture.refresh(db, isMigration: true) } }
    }

    /// Runs the statements of a migration that other machines run under the same name. What they update is no
    /// user's edit, and a second run changes nothing twice (docs/decisions/0051-kinds-of-changes.md).
    func markMigration(_ name: String, _ body: () throws -> Void) throws {
        func mark(_ sql: String, _ arguments: StatementArguments) throws {
            do {
                try StatementOwner.store.runs { try db.execute(sql: sql, arguments: arguments) }
            } catch {
                throw StoreError.wrapping(error, operation: "marking a migration")
            }
        }
        try mark(MigrationMarks.begin, [name])
        try body()
        try mark(MigrationMarks.end, [])
    }

    private func followSchema(_ refresh: () throws -> Void) throws {
        db.clearSchemaCache()
        do {
            try StatementOwner.store.runs {
                // Before capture, whose triggers must be the newest.
                try TextIndexStore(db).repairTriggers()
                try refresh()
            }
        } catch {
            throw StoreError.wrapping(error, operation: "capturing a changed schema")
        }
        changedSchema = true
        forgetSchema()
    }
}

import Foundation
import Store
import TestSupport
import Testing

extension GuideTests {
    @Test("the examples about conflicts do what the guide says")
    func conflictExamples() throws {
        let db = try Database(path: directory.file("conflicts.sqlite")) { schema in
            schema.version(1) { try $0.execute("CREATE TABLE Track (id INTEGER PRIMARY KEY, title TEXT NOT NULL)") }
        }
        for conflict in try db.conflicts(ConflictFilter(table: "Track")) {
            print(conflict.kind, conflict.key, conflict.lost, conflict.kept, conflict.lostOrigin)
        }
        #expect(throws: StoreError.self) {
            try db.restoreConflicts([7])
        }
        #expect(throws: StoreError.self) {
            try db.dismissConflicts([8, 9])
        }
        for held in try db.heldRows() { print(held.table, held.key, held.reason, held.detail) }
        #expect(try db.heldRows().isEmpty)
        try db.close()
    }

    /// Only compiled: the sequence continues as long as the database is open.
    func followConflicts(_ db: Database) async throws {
        for try await conflict in try db.newConflicts() { notify(conflict) }
    }

    private func notify(_ conflict: some Sendable) { print(conflict) }
}

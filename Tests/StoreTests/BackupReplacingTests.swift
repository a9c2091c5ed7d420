import Foundation
import Store
import TestSupport
import Testing

@Suite("A backup over an existing file", .timeLimit(.minutes(1)))
struct BackupReplacingTests {
    let directory = TemporaryDirectory()

    private func open(_ name: String) throws -> Store.Database {
        try Store.Database(
            path: directory.file(name), options: TestDatabase.options, schema: TestDatabase.declareSchema)
    }

    private func fill(_ db: Store.Database, _ count: Int) throws {
        try Person.create(from: 0..<count, in: db) {
            $0.name = "p\($1)"; $0.createdTime = .now
        }
    }

    private func count(_ path: String) throws -> Int64? {
        guard case .integer(let count) = try RawConnection(path: path).rows("SELECT count(*) FROM Person")[0][0] else {
            return nil
        }
        return count
    }

    @Test("[58] also replaces its log")
    func logOfBefore() throws {
        let old = try open("old.sqlite")
        try fill(old, 5)
        try old.close()
        // A database of Tandem leaves its log when it is closed.
        let path = directory.file("old.sqlite")
        #expect(FileManager.default.fileExists(atPath: path + "-wal"))
        let db = try open("new.sqlite")
        try fill(db, 200)
        try db.backup(to: path, replacing: true)
        #expect(try count(path) == 200)
        try db.close()
    }

    @Test("[58] replaces a log that was left without its database")
    func strayLog() throws {
        let old = try open("old.sqlite")
        try fill(old, 5)
        try old.close()
        let path = directory.file("old.sqlite")
        try FileManager.default.removeItem(atPath: path)
        let db = try open("new.sqlite")
        try fill(db, 200)
        try db.backup(to: path)
        #expect(try count(path) == 200)
        try db.close()
    }

    @Test("[58] is refused while another process has the file open, and does not change it")
    func inUse() throws {
        let old = try open("old.sqlite")
        try fill(old, 5)
        let db = try open("new.sqlite")
        try fill(db, 200)
        let error = #expect(throws: StoreError.self) { try db.backup(to: old.path, replacing: true) }
        #expect(error?.code == .busy)
        #expect(error?.hint?.isEmpty == false)
        #expect(try Person.count(in: old) == 5)
        #expect(!FileManager.default.fileExists(atPath: old.path + ".partial"))
        try old.close()
        try db.close()
    }
}

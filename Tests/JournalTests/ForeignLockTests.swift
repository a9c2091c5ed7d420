import Foundation
import GRDB
import Glibc
import Journal
import TestSupport
import Testing

/// SQLite shows other processes that this one has the file open by locks on the database file. A process
/// loses all of its locks on a file when it closes any descriptor of it
/// (https://sqlite.org/howtocorrupt.html, section 2.2), so Tandem must never open another one.
@Suite("Locks that other processes see")
struct ForeignLockTests {
    private let directory = TemporaryDirectory()

    /// The output of a statement in another process.
    private func elsewhere(_ path: String, _ sql: String) throws -> (text: String, isLocked: Bool) {
        let result = try Program.run(["sqlite3", "-bail", path, sql])
        return (
            result.output.trimmingCharacters(in: .whitespacesAndNewlines), result.errors.contains("database is locked")
        )
    }

    @Test("inspecting a file that this process writes does not release its write lock")
    func rollbackJournal() throws {
        let path = directory.file("plain.sqlite")
        let writer = try RawConnection(path: path)
        try writer.run("CREATE TABLE t (id INTEGER PRIMARY KEY); BEGIN IMMEDIATE; INSERT INTO t VALUES (1)")
        #expect(try elsewhere(path, "BEGIN IMMEDIATE; ROLLBACK").isLocked)
        #expect(throws: JournalError.self) { try Replica.open(at: path) }
        try Replica.reading(path).close()
        #expect(try elsewhere(path, "BEGIN IMMEDIATE; ROLLBACK").isLocked)
        // The control: this releases the lock.
        close(open(path, O_RDONLY))
        #expect(try !elsewhere(path, "BEGIN IMMEDIATE; ROLLBACK").isLocked)
    }

    @Test("opening a replica that this process has open already does not remove the log")
    func writeAheadLog() throws {
        let path = directory.file("a.sqlite")
        let replica = try Replica.make(at: path, schema: "CREATE TABLE t (id INTEGER PRIMARY KEY)")
        try replica.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        try Replica.open(at: path).close()
        _ = try Replica.create(at: path, InitializeRequest()).replica.close()
        // Without the locks, the other process would take itself for the last one and remove the log at its
        // end.
        #expect(try elsewhere(path, "SELECT count(*) FROM t").text == "1")
        #expect(FileManager.default.fileExists(atPath: path + "-wal"))
        try replica.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
        #expect(try elsewhere(path, "SELECT count(*) FROM t").text == "2")
        try replica.close()
    }
}

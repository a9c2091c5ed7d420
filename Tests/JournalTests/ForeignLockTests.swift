import Foundation
import GRDB
import Glibc
import Journal
import TestSupport
import Testing

/// SQLite tells other processes by locks on the database file that this one has it open. A process loses all of its locks on a file
/// when it closes any descriptor of it (https://sqlite.org/howtocorrupt.html, section 2.2), so Tandem must never open one besides.
@Suite("Locks that other processes see")
struct ForeignLockTests {
    private let directory = TemporaryDirectory()

    /// What another process says to a statement.
    private func elsewhere(_ path: String, _ sql: String) throws -> (text: String, isLocked: Bool) {
        let result = try Program.run(["sqlite3", "-bail", path, sql])
        return (
            result.output.trimmingCharacters(in: .whitespacesAndNewlines), result.errors.contains("database is locked")
        )
    }

    @Test("looking at a file that this process is writing leaves the write lock to it")
    func rollbackJournal() throws {
        let path = directory.file("plain.sqlite")
        let writer = try RawConnection(path: path)
        try writer.run("CREATE TABLE t (id INTEGER PRIMARY KEY); BEGIN IMMEDIATE; INSERT INTO t VALUES (1)")
        #expect(try elsewhere(path, "BEGIN IMMEDIATE; ROLLBACK").isLocked)
        #expect(throws: JournalError.self) { try Replica.open(at: path) }
        try Replica.reading(path).close()
        #expect(try elsewhere(path, "BEGIN IMMEDIATE; ROLLBACK").isLocked)
        // The witness: this is what must not happen.
        close(open(path, O_RDONLY))
        #expect(try !elsewhere(path, "BEGIN IMMEDIATE; ROLLBACK").isLocked)
    }

    @Test("opening a replica that this process has open already leaves the log where it is")
    func writeAheadLog() throws {
        let path = directory.file("a.sqlite")
        try RawConnection(path: path).run("CREATE TABLE t (id INTEGER PRIMARY KEY)")
        let replica = try Replica.create(at: path, InitializeRequest()).replica
        try replica.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        try Replica.open(at: path).close()
        _ = try Replica.create(at: path, InitializeRequest()).replica.close()
        // Were this the only process that has the file open, as it seems without the locks, the log would go with its end.
        #expect(try elsewhere(path, "SELECT count(*) FROM t").text == "1")
        #expect(FileManager.default.fileExists(atPath: path + "-wal"))
        try replica.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
        #expect(try elsewhere(path, "SELECT count(*) FROM t").text == "2")
        try replica.close()
    }
}

import GRDB
import Journal
import Logging
import Sync
import TestSupport
import Testing

@testable import SyncdCore

@Suite("What a client and the log are told about a failed request")
struct RefusalTests {
    @Test("the log has SQLite's message, and neither has the SQL or its values")
    func database() throws {
        let log = LogRecord()
        let error = DatabaseError(
            resultCode: .SQLITE_FULL, message: "database or disk is full", sql: "INSERT INTO person VALUES ('secret')")
        let refusal = try #require(Refusal(error, logger: log.logger))
        #expect(refusal.status == 500 && refusal.code == "failed")
        let line = try #require(log.all.first)
        #expect(log.all.count == 1 && line.level == .warning)
        let said = "\(line.metadata)"
        #expect(said.contains("SQLite: \(error.resultCode)") && said.contains("Check the free space"))
        #expect(!said.contains("secret") && !refusal.message.contains("secret"))
    }

    @Test(
        "a file that others lock is tried again",
        arguments: [
            DatabaseError(resultCode: .SQLITE_BUSY), JournalError(.busy, "another process holds the file"),
        ] as [any Error])
    func busy(error: any Error) throws {
        let refusal = try #require(Refusal(error, logger: LogRecord().logger))
        #expect(refusal.status == SyncError(.busy, "").httpStatus && refusal.code == "busy")
    }
}

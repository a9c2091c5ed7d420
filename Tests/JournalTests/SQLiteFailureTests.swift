import Foundation
import GRDB
import Testing

@testable import Journal

@Suite("What the codes of SQLite mean")
struct SQLiteFailureTests {
    @Test("an extended code without a meaning of its own has that of its primary code")
    func extendedCodes() {
        #expect(SQLiteFailure(.SQLITE_IOERR_WRITE).meaning == .inputOutput)
        #expect(SQLiteFailure(.SQLITE_BUSY_SNAPSHOT).meaning == .busy)
        #expect(SQLiteFailure(.SQLITE_CONSTRAINT_TRIGGER).meaning == .constraint)
        #expect(SQLiteFailure(.SQLITE_CONSTRAINT_UNIQUE).meaning == .unique)
        let rollback = SQLiteFailure(.SQLITE_READONLY_ROLLBACK)
        #expect(rollback.meaning == .readOnly && rollback.hint != SQLiteFailure(.SQLITE_READONLY).hint)
        #expect(SQLiteFailure(.SQLITE_MISUSE).meaning == .other && SQLiteFailure(.SQLITE_MISUSE).hint == nil)
    }

    @Test("an error of GRDB and one of a raw statement get the same code and hint")
    func wrapping() throws {
        let error = DatabaseError(resultCode: .SQLITE_FULL, message: "database or disk is full")
        let wrapped = JournalError(error, operation: "Writing")
        #expect(wrapped.code == .sqlite && wrapped.sqliteCode == 13)
        #expect(wrapped.message == "Writing failed: database or disk is full")
        #expect(wrapped.hint == SQLiteFailure(.SQLITE_FULL).hint)
        #expect(JournalError(DatabaseError(resultCode: .SQLITE_LOCKED), operation: "Writing").code == .busy)
    }
}

@Suite("Messages are sentences")
struct SentenceCaseTests {
    /// What a message may begin with in lower case: a command, a path, an identifier.
    private static let names = [
        "libcurl ", "syncd ", "docs/", "repair ", "unknown key ", "unknown log level ", "unusable ",
    ]

    @Test("messages and hints begin with a capital letter", arguments: ["Journal", "Store", "Sync", "syncd"])
    func sources(module: String) throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/\(module)")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        let message = /\b(?:JournalError|StoreError|SyncError|Failure|ColumnMismatch)\(\s*(?:\.\w+,\s*)?"([a-z][^"\\]*)/
        let hint = /hint:\s*"([a-z][^"\\]*)/
        var count = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            let source = try String(contentsOf: file, encoding: .utf8)
            count += 1
            for text in source.matches(of: message).map(\.output.1) + source.matches(of: hint).map(\.output.1)
            where !Self.names.contains(where: text.hasPrefix) {
                Issue.record("\(file.lastPathComponent): \(text)")
            }
        }
        #expect(count > 10)
    }
}

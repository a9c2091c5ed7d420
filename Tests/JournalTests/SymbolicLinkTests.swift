import Foundation
import GRDB
import TestSupport
import Testing

@testable import Journal

@Suite("A database that is opened by a symbolic link from another directory")
struct SymbolicLinkTests {
    private let directory = TemporaryDirectory()
    private let elsewhere = TemporaryDirectory()
    private var path: String { directory.file("real.sqlite") }
    private var link: String { elsewhere.file("link.sqlite") }

    init() throws {
        try RawConnection(path: path).run("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    }

    @Test("a grown log is checkpointed, under the lock that other processes of the file use")
    func checkpoint() throws {
        let replica = try Replica.create(at: link, InitializeRequest()).replica
        try replica.write { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
                    INSERT INTO t SELECT i, zeroblob(65536) FROM n
                    """)
        }
        let size = try SystemFiles().status(of: path)?.size ?? 0
        #expect(size > JournalLimits.walBytesPerCheckpoint)
        #expect(FileManager.default.fileExists(atPath: path + "-checkpoint"))
        try replica.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path) == ["link.sqlite"])
    }

    @Test("an interrupted commit is noticed")
    func rollbackJournal() throws {
        let files = SystemFiles()
        #expect(try !FileInspection.hasRollbackJournal(link, files: files))
        try Data([1]).write(to: URL(fileURLWithPath: path + "-journal"))
        #expect(try FileInspection.hasRollbackJournal(link, files: files))
    }
}

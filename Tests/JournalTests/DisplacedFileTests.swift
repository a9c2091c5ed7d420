import Foundation
import GRDB
import Journal
import TestSupport
import Testing

@Suite("A file that is displaced while it is open")
struct DisplacedFileTests {
    enum Way: String, CaseIterable {
        case renamed, removed, replaced
        case logRemoved = "log removed"
        case logReplaced = "log replaced"
        case directoryRenamed = "directory renamed"

        func apply(to path: String) throws {
            let manager = FileManager.default
            switch self {
            case .renamed: try manager.moveItem(atPath: path, toPath: path + ".aside")
            case .removed: try manager.removeItem(atPath: path)
            case .replaced: try Way.replace(path)
            case .logRemoved: try manager.removeItem(atPath: path + "-wal")
            case .logReplaced: try Way.replace(path + "-wal")
            case .directoryRenamed:
                let directory = (path as NSString).deletingLastPathComponent
                try manager.moveItem(atPath: directory, toPath: directory + ".aside")
            }
        }

        private static func replace(_ path: String) throws {
            try FileManager.default.copyItem(atPath: path, toPath: path + ".copy")
            guard rename(path + ".copy", path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        }
    }

    private let directory = TemporaryDirectory()

    private func makeReplica() throws -> Replica {
        let folder = directory.file("folder")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let path = folder + "/a.sqlite"
        let replica = try Replica.make(at: path, schema: "CREATE TABLE t (id INTEGER PRIMARY KEY)")
        try replica.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        return replica
    }

    /// The files that the replica has open, independent of their present names.
    private func openFiles(of path: String) throws -> [FileHandle] {
        try ["", "-wal"].map { try #require(FileHandle(forReadingAtPath: path + $0)) }
    }

    private func contents(_ files: [FileHandle]) throws -> [Data?] {
        try files.map { file in
            try file.seek(toOffset: 0)
            return try file.readToEnd()
        }
    }

    private func code(_ body: () throws -> Void) -> JournalError.Code? {
        do {
            try body()
            return nil
        } catch { return (error as? JournalError)?.code }
    }

    @Test("is not written any longer, and the orphan does not change", arguments: Way.allCases)
    func writes(way: Way) throws {
        let replica = try makeReplica()
        let merging = try replica.openMergeConnection()
        let files = try openFiles(of: replica.path)
        try way.apply(to: replica.path)
        let before = try contents(files)
        #expect(code { try replica.checkPlace() } == .displaced)
        #expect(code { try replica.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") } } == .displaced)
        #expect(code { try merging.write { try $0.execute(sql: "INSERT INTO t VALUES (3)") } } == .displaced)
        #expect(code { _ = try replica.checkpoint(.truncate) } == .displaced)
        try? merging.close()
        try? replica.close()
        #expect(try contents(files) == before)
    }

    @Test("a merge at that moment is not confirmed", arguments: Way.allCases)
    func merge(way: Way) throws {
        let replica = try makeReplica()
        let merging = try replica.openMergeConnection()
        let failure = code {
            try merging.write { db in
                try db.execute(sql: "INSERT INTO t VALUES (2)")
                try way.apply(to: replica.path)
            }
        }
        #expect(failure == .displaced)
    }

    @Test("a file that replaces it is written, also through a symbolic link")
    func inPlace() throws {
        let path = try makeReplica().path
        let link = directory.file("link.sqlite")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let replica = try Replica.open(at: link)
        try replica.checkPlace()
        try replica.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
        _ = try replica.checkpoint(.truncate)
        try replica.write { try $0.execute(sql: "INSERT INTO t VALUES (3)") }
        try replica.close()
    }
}

@Suite("A file whose last writer was killed in the middle of a commit")
struct HotJournalTests {
    private let directory = TemporaryDirectory()

    /// A copy of a database and its rollback journal, taken in the middle of a commit: page 1, which has a
    /// larger size, is written, and the pages behind the old end are not.
    private func interrupted(isReplica: Bool) throws -> String {
        let original = directory.file("original.sqlite")
        let copy = directory.file("copy.sqlite")
        let writer = try DatabaseQueue(path: original)
        try writer.writeWithoutTransaction { try $0.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)") }
        try writer.close()
        if isReplica { try Replica.create(at: original, InitializeRequest()).replica.close() }
        let queue = try DatabaseQueue(path: original)
        try queue.writeWithoutTransaction { db in
            _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = DELETE")
            try db.execute(sql: "INSERT INTO t VALUES (1, 'kept')")
            try copyInCommit(db, from: original, to: copy)
        }
        try queue.close()
        let file = try #require(FileHandle(forUpdatingAtPath: copy))
        try file.seek(toOffset: 24)
        let counter = try #require(try file.read(upToCount: 4))
        // The size in pages, and the change counter for which that size is valid.
        try file.seek(toOffset: 28)
        file.write(Data([0, 0, 0x10, 0]))
        try file.seek(toOffset: 92)
        file.write(counter)
        try file.close()
        return copy
    }

    /// Copies a database and its rollback journal while a transaction that is too large for memory is
    /// written.
    private func copyInCommit(_ db: Database, from original: String, to copy: String, after sql: String = "") throws {
        try db.execute(sql: "PRAGMA cache_size = 5; BEGIN IMMEDIATE; \(sql)")
        for _ in 0..<200 { try db.execute(sql: "INSERT INTO t (a) VALUES (hex(randomblob(1000)))") }
        for suffix in ["", "-journal"] {
            try FileManager.default.copyItem(atPath: original + suffix, toPath: copy + suffix)
        }
        try db.execute(sql: "ROLLBACK")
    }

    private func rows(_ path: String) throws -> [String] {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read { try String.fetchAll($0, sql: "SELECT a FROM t") }
    }

    @Test("is rolled back and made a replica, and not called truncated")
    func create() throws {
        let path = try interrupted(isReplica: false)
        try Replica.create(at: path, InitializeRequest()).replica.close()
        #expect(try rows(path) == ["kept"])
    }

    @Test("is rolled back and opened")
    func open() throws {
        let path = try interrupted(isReplica: true)
        let replica = try Replica.open(at: path)
        try replica.write { try $0.execute(sql: "INSERT INTO t (a) VALUES ('later')") }
        try replica.close()
        #expect(try rows(path) == ["kept", "later"])
    }

    @Test("a database whose first commit was interrupted has nothing left: it is a new file and no foreign one")
    func new() throws {
        let path = directory.file("new.sqlite")
        let original = directory.file("original.sqlite")
        let queue = try DatabaseQueue(path: original)
        try queue.writeWithoutTransaction { db in
            try copyInCommit(db, from: original, to: path, after: "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)")
        }
        try queue.close()
        // As before page 1 was written.
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        file.write(Data(count: 100))
        try file.close()
        let error = #expect(throws: JournalError.self) { _ = try Replica.open(at: path) }
        #expect(error?.code == .notAReplica)
        try Replica.create(at: path, InitializeRequest()).replica.close()
    }

    @Test("a foreign file beside one named like its journal stays foreign, and both stay", arguments: [40, 4_000])
    func foreign(bytes: Int) throws {
        let path = directory.file("text")
        let content = Data(repeating: 65, count: bytes)
        for suffix in ["", "-journal"] { try content.write(to: URL(fileURLWithPath: path + suffix)) }
        let error = #expect(throws: JournalError.self) { _ = try Replica.create(at: path, InitializeRequest()) }
        #expect(error?.code == .notADatabase)
        for suffix in ["", "-journal"] {
            #expect(FileManager.default.contents(atPath: path + suffix) == content, "\(suffix)")
        }
    }

    @Test("cannot be read without writing it, and the error says so")
    func reading() throws {
        let path = try interrupted(isReplica: true)
        let error = #expect(throws: JournalError.self) { _ = try Replica.reading(path) }
        #expect(error?.code == .readOnly)
        #expect(error?.hint?.contains("interrupted") == true)
    }
}

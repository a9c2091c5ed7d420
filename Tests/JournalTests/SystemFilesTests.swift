import Foundation
import TestSupport
import Testing

@testable import Journal

/// Refusals of the kernel reach the caller as errors with their numbers: the tests use files that refuse for
/// a reason of their own.
@Suite("Files that cannot be read, written or synced")
struct SystemFilesTests {
    private let files = SystemFiles()
    private let directory = TemporaryDirectory()

    @Test("a missing file is nil for a reader, and created for a writer; without its directory there is an error")
    func missing() throws {
        #expect(try files.withFile(directory.file("none"), .reading) { _ in 1 } == nil)
        #expect(try files.withFile(directory.file("new"), .updating) { _ in 1 } == 1)
        let error = #expect(throws: FileError.self) {
            try files.withFile(directory.file("none/at/all"), .updating) { _ in 1 }
        }
        #expect(error?.code == 2)
    }

    @Test(
        "a new file beside a database is for those who may write the database, and for no others",
        arguments: [(0o600, 0o600), (0o644, 0o600), (0o664, 0o660), (0o660, 0o660), (0o666, 0o666), (0o440, 0o600)])
    func permissions(database: Int, expected: Int) throws {
        let path = directory.file("a.sqlite")
        try #require(FileManager.default.createFile(atPath: path, contents: nil))
        // As root, for which the owner can differ from this process.
        let other: uid_t = geteuid() == 0 ? 65_534 : geteuid()
        try #require(chown(path, other, geteuid() == 0 ? 65_534 : getegid()) == 0 && chmod(path, mode_t(database)) == 0)
        #expect(try files.withFile(path + "-identity", .updating) { _ in 1 } == 1)
        let created = try FileManager.default.attributesOfItem(atPath: path + "-identity")
        #expect(created[.posixPermissions] as? Int == expected)
        #expect(created[.ownerAccountID] as? Int == Int(other))
        // A file that is there already keeps what it has.
        try #require(chmod(path + "-identity", 0o640) == 0)
        #expect(try files.withFile(path + "-identity", .updating) { _ in 1 } == 1)
        let kept = try FileManager.default.attributesOfItem(atPath: path + "-identity")
        #expect(kept[.posixPermissions] as? Int == 0o640)
    }

    @Test("a link to nothing in the place of a file is an error")
    func danglingLink() throws {
        try FileManager.default.createSymbolicLink(
            atPath: directory.file("link"), withDestinationPath: directory.file("nothing/at/all"))
        #expect(throws: FileError.self) { try files.withFile(directory.file("link"), .updating) { _ in 1 } }
    }

    @Test("claiming a file that another process holds returns nil")
    func claimed() throws {
        let path = directory.file("a")
        let inner = try files.withFile(path, .exclusiveOrNothing) { _ in
            try files.withFile(path, .exclusiveOrNothing) { _ in 1 } == nil
        }
        #expect(inner == true)
    }

    @Test("a directory cannot be read as a file")
    func unreadable() {
        let error = #expect(throws: FileError.self) {
            try files.withFile(directory.path, .reading) { try $0.read(1) }
        }
        #expect(error?.code == 21)
    }

    @Test("a full device refuses bytes, and one without a medium refuses to sync")
    func full() {
        let written = #expect(throws: FileError.self) {
            try files.withFile("/dev/full", .updating) { try $0.write([1], at: 0) }
        }
        #expect(written?.code == 28)
        let synced = #expect(throws: FileError.self) { try files.withFile("/dev/full", .updating) { try $0.sync() } }
        #expect(synced?.code == 22)
    }

    @Test("a name is not synced in a directory that cannot be synced, or that is missing")
    func names() throws {
        let proc = #expect(throws: FileError.self) {
            try files.withFile("/proc/version", .reading) { try $0.syncName() }
        }
        #expect(proc?.code == 22)
        let path = directory.file("sub/a")
        try FileManager.default.createDirectory(atPath: directory.file("sub"), withIntermediateDirectories: true)
        let gone = #expect(throws: FileError.self) {
            try files.withFile(path, .updating) { file in
                try FileManager.default.removeItem(atPath: directory.file("sub"))
                try file.syncName()
            }
        }
        #expect(gone?.code == 2)
    }
}

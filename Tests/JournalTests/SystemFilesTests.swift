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

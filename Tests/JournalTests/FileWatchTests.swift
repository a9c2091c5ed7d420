import Foundation
import GRDB
import TestSupport
import Testing

@testable import Journal

@Suite("Watching a file")
struct FileWatchTests {
    @Test("a commit of another process is signalled", .timeLimit(.minutes(1)))
    func otherProcess() async throws {
        let fixture = try Fixture("CREATE TABLE t (id INTEGER PRIMARY KEY)")
        let watch = try FileWatch(path: fixture.replica.path)
        var signals = watch.changes.makeAsyncIterator()
        let program =
            "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('INSERT INTO t VALUES (1)'); db.commit()"
        #expect(try Program.run(["python3", "-c", program, fixture.replica.path]).status == 0)
        var seen = 0
        while seen == 0, await signals.next() != nil { seen = try fixture.entries().count }
        #expect(seen == 1)
        watch.stop()
    }

    @Test("stop ends every stream, and a later one is empty", .timeLimit(.minutes(1)))
    func stop() async throws {
        let fixture = try Fixture("CREATE TABLE t (id INTEGER PRIMARY KEY)")
        let watch = try FileWatch(path: fixture.replica.path)
        let stream = watch.changes
        watch.signal()
        watch.stop()
        watch.stop()
        var count = 0
        for await _ in stream { count += 1 }
        #expect(count == 1)
        for await _ in watch.changes { Issue.record("a signal after the end") }
    }

    @Test("a commit is signalled to a process that has the file open by a symbolic link", .timeLimit(.minutes(1)))
    func symbolicLink() async throws {
        let fixture = try Fixture("CREATE TABLE t (id INTEGER PRIMARY KEY)")
        let elsewhere = TemporaryDirectory()
        let link = elsewhere.file("link.sqlite")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: fixture.replica.path)
        let watch = try FileWatch(path: link)
        var signals = watch.changes.makeAsyncIterator()
        try fixture.replica.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        #expect(await signals.next() != nil)
        watch.stop()
    }

    @Test("a directory that does not exist cannot be watched")
    func missing() {
        #expect(throws: JournalError.self) { try FileWatch(path: "/nonexistent/a.sqlite") }
    }

    @Test(
        "a refusal of the system names the limit that was reached, and no other",
        arguments: [
            (EMFILE, "fs.inotify.max_user_instances"), (ENOSPC, "fs.inotify.max_user_watches"), (ENOMEM, "ulimit -v"),
            (EAGAIN, "ulimit -u"),
        ])
    func limits(code: Int32, limit: String) {
        let error = InotifyHub.failure("Watching files", code: code)
        #expect(error.message == "Watching files failed: \(String(cString: strerror(code)))")
        #expect(error.hint?.contains(limit) == true)
        #expect(InotifyHub.failure("Watching files", code: ENOENT).hint == nil)
    }
}

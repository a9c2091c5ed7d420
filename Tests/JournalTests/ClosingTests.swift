import Dispatch
import GRDB
import Journal
import Synchronization
import TestSupport
import Testing

@Suite("Closing while others read")
struct ClosingTests {
    @Test("readers get their rows or the error of a closed connection, and never use a closed connection")
    func readers() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("a.sqlite")
        let schema = "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2)"
        try Replica.make(at: path, schema: schema).close()
        for _ in 0..<40 {
            let replica = try Replica.open(at: path)
            let started = DispatchSemaphore(value: 0)
            let others = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 4) { index in
                do {
                    if index == 0 {
                        started.wait()
                        return try replica.close()
                    }
                    while true {
                        let count = try replica.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
                        started.signal()
                        if count != 2 { others.withLock { $0.append("\(String(describing: count)) rows") } }
                    }
                } catch let error as DatabaseError where error.resultCode == .SQLITE_MISUSE {
                    // The connection was closed.
                } catch {
                    others.withLock { $0.append("\(error)") }
                }
            }
            #expect(others.withLock { $0 } == [])
        }
    }

    @Test("closing waits for a running write")
    func writer() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("a.sqlite")
        let replica = try Replica.make(at: path, schema: "CREATE TABLE t (id INTEGER PRIMARY KEY)")
        let inside = DispatchSemaphore(value: 0)
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            do {
                if index == 0 {
                    inside.wait()
                    return try replica.close()
                }
                try replica.write { db in
                    inside.signal()
                    for id in 0..<200 { try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [id]) }
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(try RawConnection(path: path).rows("SELECT count(*) FROM t") == [[.integer(200)]])
        #expect(throws: DatabaseError.self) { try replica.read { _ in } }
        try replica.close()
    }
}

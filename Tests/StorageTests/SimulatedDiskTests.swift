import Journal
import SimulatedDisk
import TestSupport
import Testing

/// Conclusions from a simulated disk are valid only if it behaves as disks do.
@Suite("Simulated disks")
struct SimulatedDiskTests {
    let disk = SimulatedDisk()

    private func connect(_ disk: SimulatedDisk, _ name: String = "a.sqlite") throws -> RawConnection {
        try RawConnection(path: disk.path(name))
    }

    private func makeTable(_ journalMode: String, _ synchronous: String) throws -> RawConnection {
        let connection = try connect(disk)
        try connection.run(
            """
            PRAGMA synchronous = FULL;
            PRAGMA journal_mode = \(journalMode);
            PRAGMA wal_autocheckpoint = 0;
            CREATE TABLE t (id INTEGER PRIMARY KEY, a);
            PRAGMA synchronous = \(synchronous);
            """)
        return connection
    }

    private func insert(_ count: Int, _ connection: RawConnection) throws {
        for _ in 0..<count { try connection.run("INSERT INTO t (a) VALUES (randomblob(700))") }
    }

    private func rows(_ disk: SimulatedDisk) throws -> Int64 {
        let connection = try connect(disk)
        #expect(try connection.rows("PRAGMA integrity_check") == [[.text("ok")]])
        guard try connection.rows("SELECT 1 FROM sqlite_schema WHERE name = 't'").count == 1,
            case .integer(let count) = try connection.rows("SELECT count(*) FROM t")[0][0]
        else { return -1 }
        return count
    }

    @Test(
        "files survive their connections, in every journal mode", arguments: ["wal", "delete", "truncate", "persist"])
    func files(mode: String) throws {
        do {
            let connection = try makeTable(mode, "FULL")
            try insert(3, connection)
        }
        #expect(try rows(disk) == 3)
        #expect(try rows(disk.copy()) == 3)
        #expect(try RawConnection(path: disk.path("other")).rows("SELECT * FROM sqlite_schema").isEmpty)
    }

    @Test("two connections see each other's commits, and one at a time writes")
    func locks() throws {
        let (a, b) = (try makeTable("wal", "FULL"), try connect(disk))
        try b.run("PRAGMA busy_timeout = 0")
        try a.run("BEGIN IMMEDIATE; INSERT INTO t VALUES (1, 1)")
        #expect(b.execute("BEGIN IMMEDIATE") == 5)
        #expect(try b.rows("SELECT * FROM t").isEmpty)
        try a.run("COMMIT")
        #expect(try b.rows("SELECT id FROM t") == [[.integer(1)]])
    }

    @Test("readers of a rollback journal block the writer's commit, which succeeds afterwards")
    func rollbackLocks() throws {
        let (a, b) = (try makeTable("delete", "FULL"), try connect(disk))
        try a.run("PRAGMA busy_timeout = 0; INSERT INTO t VALUES (1, 1)")
        try b.run("BEGIN; SELECT * FROM t")
        #expect(a.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES (2, 2); COMMIT") == 5)
        try b.run("COMMIT")
        try a.run("COMMIT")
        #expect(try b.rows("SELECT count(*) FROM t") == [[.integer(2)]])
    }

    @Test("synced writes survive every loss of power", arguments: SimulatedDisk.Loss.allCases, ["wal", "delete"])
    func durable(loss: SimulatedDisk.Loss, mode: String) throws {
        // With FULL, the end of a rollback journal is not synced, and the last commit may be undone
        // (https://sqlite.org/pragma.html#pragma_synchronous).
        let connection = try makeTable(mode, mode == "wal" ? "FULL" : "EXTRA")
        try insert(5, connection)
        for seed in 0..<20 { #expect(try rows(disk.powerLoss(seed: UInt64(seed), loss)) == 5) }
    }

    @Test("unsynced writes may be lost, from the end on")
    func notDurable() throws {
        let connection = try makeTable("wal", "NORMAL")
        try insert(2, connection)
        try connection.run("PRAGMA wal_checkpoint")
        try insert(20, connection)
        #expect(disk.unsynced.bytes > 20 * 700)
        #expect(try rows(disk.powerLoss(seed: 1, .all)) == 2)
        #expect(try rows(disk.powerLoss(seed: 1, .none)) == 22)
        var counts: Set<Int64> = []
        for loss in SimulatedDisk.Loss.allCases {
            for seed in 0..<40 { counts.insert(try rows(disk.powerLoss(seed: UInt64(seed), loss))) }
        }
        // Every number in between is a different state.
        #expect(counts.count > 10)
        #expect(counts.isSubset(of: 2...22))
    }

    @Test("the same seed gives the same disk, another seed another one")
    func seeds() throws {
        let connection = try makeTable("wal", "NORMAL")
        try insert(20, connection)
        let digests = (0..<50).map { disk.powerLoss(seed: UInt64($0)).digest }
        #expect(digests == (0..<50).map { disk.powerLoss(seed: UInt64($0)).digest })
        #expect(Set(digests).count > 25)
    }

    @Test("a new file whose name was not synced may be lost with its bytes")
    func names() throws {
        let connection = try makeTable("off", "FULL")
        try insert(1, connection)
        #expect(disk.unsynced.names == 1)
        #expect(disk.powerLoss(seed: 1, .all).size(of: "a.sqlite") == nil)
        #expect(try rows(disk.powerLoss(seed: 1, .none)) == 1)
    }

    @Test("a crash of the process leaves all writes, synced or not, and nothing works before the start")
    func crash() throws {
        let connection = try makeTable("wal", "OFF")
        try insert(4, connection)
        try connection.run("BEGIN IMMEDIATE; INSERT INTO t (a) VALUES (1)")
        disk.crash()
        #expect(connection.execute("COMMIT") != 0)
        #expect(throws: RawConnectionError.self) { try connect(disk) }
        disk.start()
        #expect(try rows(disk) == 4)
        let next = try connect(disk)
        try next.run("BEGIN IMMEDIATE; INSERT INTO t (a) VALUES (2); COMMIT")
        #expect(connection.execute("SELECT * FROM t") != 0)
        #expect(try rows(disk) == 5)
    }

    @Test("a fault happens at its operation, and passes")
    func faults() throws {
        let connection = try makeTable("wal", "FULL")
        let fault = disk.add(.init(.fail, .at(2), of: .write, on: .log))
        #expect(connection.execute("INSERT INTO t (a) VALUES (1)") & 0xFF == 10)
        #expect(disk.happened(fault) == 1)
        try insert(1, connection)
        disk.clearFaults()
        disk.add(.init(.full, .from(1), of: .write))
        #expect(connection.execute("INSERT INTO t (a) VALUES (2)") == 13)
        disk.clearFaults()
        disk.setCapacity(bytes: (disk.size(of: "a.sqlite-wal") ?? 0) + 5_000)
        #expect(connection.execute("INSERT INTO t (a) VALUES (randomblob(20000))") == 13)
        disk.setCapacity(bytes: nil)
        try insert(1, connection)
        #expect(try rows(disk.powerLoss(seed: 3)) == 2)
    }

    @Test("while faults are held, none happens and none counts")
    func heldFaults() throws {
        let connection = try makeTable("wal", "FULL")
        let fault = disk.add(.init(.fail, .at(1), of: .write, on: .log))
        try disk.withoutFaults { try insert(2, connection) }
        #expect(disk.happened(fault) == 0)
        #expect(connection.execute("INSERT INTO t (a) VALUES (1)") & 0xFF == 10)
        #expect(try rows(disk) == 2)
    }

    @Test("a file that is copied over a deleted one exists after every loss of power")
    func copiedFile() throws {
        let backup = SimulatedDisk()
        do {
            let connection = try makeTable("delete", "FULL")
            try insert(3, connection)
            #expect(disk.copyFile("a.sqlite", to: backup, as: "a.sqlite"))
            try insert(2, connection)
        }
        #expect(disk.deleteFile("a.sqlite"))
        #expect(backup.copyFile("a.sqlite", to: disk, as: "a.sqlite"))
        for loss in SimulatedDisk.Loss.allCases { #expect(try rows(disk.powerLoss(seed: 1, loss)) == 3) }
    }

    @Test("after a failed sync, a later successful sync does not save the writes of the failed one")
    func failedSync() throws {
        let connection = try makeTable("wal", "FULL")
        try insert(3, connection)
        disk.add(.init(.fail, .at(1), of: .sync, on: .log))
        #expect(connection.execute("INSERT INTO t (a) VALUES (randomblob(9000))") & 0xFF == 10)
        // SQLite starts again where the failed commit began, so it uses nothing of it.
        try insert(3, connection)
        for seed in 0..<50 { #expect(try rows(disk.powerLoss(seed: UInt64(seed))) == 6) }
    }

    @Test("a crash may happen before or after an operation")
    func plannedCrash() throws {
        for kind in [SimulatedDisk.Fault.Kind.crashBefore, .crashAfter] {
            let disk = SimulatedDisk()
            do {
                let connection = try connect(disk)
                try connection.run("PRAGMA journal_mode = wal; CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
                let fault = disk.add(.init(kind, .at(2), of: .write, on: .log))
                #expect(connection.execute("INSERT INTO t VALUES (1, randomblob(20000))") != 0)
                #expect(disk.happened(fault) == 1)
                #expect(disk.isDown)
            }
            disk.start()
            #expect(try rows(disk) == 0)
        }
    }

    @Test("copies are set aside in the middle of a commit")
    func capture() throws {
        let connection = try makeTable("wal", "FULL")
        try insert(1, connection)
        let before = disk.count()
        disk.add(.init(.capture, .at(1, times: 3), of: .write, on: .log))
        try connection.run("INSERT INTO t VALUES (2, randomblob(20000))")
        var copies = 0
        while let copy = disk.takeCapture() {
            copies += 1
            #expect(copy.copiedAfter > before)
            #expect(try rows(copy) == 1)
        }
        #expect(copies == 3)
    }

    @Test("Tandem's own files are locked, written, synced and lost like other files")
    func sideFiles() throws {
        let (files, path) = (disk.files, disk.path("a-identity"))
        #expect(try files.status(of: path) == nil)
        #expect(try files.withFile(path, .reading) { _ in 1 } == nil)
        try files.withFile(path, .updating) { file in
            try file.write([1, 2, 3], at: 2)
            try file.sync()
            #expect(try files.withFile(path, .exclusiveOrNothing) { _ in 1 } == nil)
        }
        #expect(try files.withFile(path, .reading) { try $0.read(9) } == [0, 0, 1, 2, 3])
        #expect(disk.powerLoss(seed: 1, .all).size(of: "a-identity") == nil)
        try files.withFile(path, .updating) { try $0.syncName() }
        #expect(disk.powerLoss(seed: 1, .all).size(of: "a-identity") == 5)
        disk.add(.init(.fail, .at(1), of: .sync))
        #expect(throws: FileError("synced", code: 5)) { try files.withFile(path, .updating) { try $0.sync() } }
    }

    @Test("each disk has its own time for SQLite")
    func time() throws {
        let other = SimulatedDisk()
        disk.setTime(milliseconds: 1_000)
        other.setTime(milliseconds: 86_400_000)
        let (a, b) = (try makeTable("wal", "FULL"), try RawConnection(path: other.path("b")))
        try b.run("CREATE TABLE t (a)")
        try a.run("INSERT INTO t VALUES (1, unixepoch('now'))")
        try b.run("INSERT INTO t VALUES (unixepoch('now'))")
        #expect(try a.rows("SELECT a FROM t") == [[.integer(1)]])
        #expect(try b.rows("SELECT a FROM t") == [[.integer(86_400)]])
    }

    @Test("a flipped bit shows")
    func decay() throws {
        let connection = try makeTable("delete", "FULL")
        try insert(50, connection)
        #expect(disk.flipBit(of: "a.sqlite", at: 4_096, bit: 0))
        #expect(!disk.flipBit(of: "a.sqlite", at: .max, bit: 0))
        let answer = Result { try connect(disk).rows("PRAGMA integrity_check") }
        if case .success(let rows) = answer { #expect(rows != [[.text("ok")]]) }
    }
}

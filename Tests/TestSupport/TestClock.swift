import Foundation
import GRDBSQLite
import Synchronization

/// A clock for SQLite's 'now': the system's VFS with another time. Open a connection with ``vfs``.
package final class TestClock: Sendable {
    /// The times of all clocks, by the address of their VFS. SQLite keeps a registered VFS until the process
    /// ends.
    private static let times = Mutex<[UInt: Int64]>([:])

    /// The name under which SQLite knows the VFS.
    package let vfs: String
    private let address: UInt

    /// - Parameter milliseconds: The first time, since 1970.
    package init(milliseconds: Int64) {
        let name = "clock-\(UUID().uuidString)"
        vfs = name
        let copy = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        if let system = sqlite3_vfs_find(nil) { copy.initialize(to: system.pointee) }
        copy.pointee.zName = UnsafePointer(strdup(name))
        copy.pointee.pNext = nil
        copy.pointee.xCurrentTimeInt64 = { vfs, time in
            time?.pointee = TestClock.julianMilliseconds(vfs)
            return SQLITE_OK
        }
        copy.pointee.xCurrentTime = { vfs, time in
            time?.pointee = Double(TestClock.julianMilliseconds(vfs)) / 86_400_000
            return SQLITE_OK
        }
        address = UInt(bitPattern: copy)
        set(milliseconds: milliseconds)
        sqlite3_vfs_register(copy, 0)
    }

    /// Sets the time, forwards or backwards.
    package func set(milliseconds: Int64) {
        TestClock.times.withLock { $0[address] = milliseconds }
    }

    private static func julianMilliseconds(_ vfs: UnsafeMutablePointer<sqlite3_vfs>?) -> Int64 {
        times.withLock { $0[UInt(bitPattern: vfs)] ?? 0 } + 210_866_760_000_000
    }
}

extension RawConnection {
    /// Writes in a transaction with a clock a second ahead: later than everything that was written before on
    /// any machine, by this function too, also within one tick of the real clock.
    package static func writeLater(_ sql: String, at path: String) throws {
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        let time = lastLater.withLock { last in
            last = max(last + 1, now + 1_000)
            return last
        }
        try RawConnection(path: path, vfs: TestClock(milliseconds: time).vfs).run("BEGIN; \(sql); COMMIT")
    }

    /// The time of the last ``writeLater(_:at:)``, in milliseconds since 1970.
    private static let lastLater = Mutex<Int64>(0)
}

import Foundation
import GRDBSQLite
import Synchronization

/// What SQLite gets from its operating system besides files, for the whole process: the time of the machine whose turn it is, waits
/// that take no time, and randomness from a seed.
///
/// Installed as SQLite's default VFS, because the production code opens its connections itself. A process that simulates does nothing
/// else.
enum SimulatedSystem {
    private static let milliseconds = Atomic<Int64>(0)
    private static let randomness = Mutex<UInt64>(0)

    private static let installed: Bool = {
        guard let system = sqlite3_vfs_find(nil) else { return false }
        let copy = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        copy.initialize(to: system.pointee)
        copy.pointee.zName = UnsafePointer(strdup("simulated-system"))
        copy.pointee.pNext = nil
        copy.pointee.xCurrentTimeInt64 = { _, time in
            time?.pointee = SimulatedSystem.julianMilliseconds
            return SQLITE_OK
        }
        copy.pointee.xCurrentTime = { _, time in
            time?.pointee = Double(SimulatedSystem.julianMilliseconds) / 86_400_000
            return SQLITE_OK
        }
        // Nobody else runs meanwhile: who holds a lock now holds it when the wait is over.
        copy.pointee.xSleep = { _, microseconds in microseconds }
        copy.pointee.xRandomness = { _, count, bytes in
            guard let bytes else { return 0 }
            for index in 0..<Int(count) { bytes[index] = CChar(truncatingIfNeeded: SimulatedSystem.draw()) }
            return count
        }
        return sqlite3_vfs_register(copy, 1) == SQLITE_OK
    }()

    /// Starts a life: SQLite's randomness begins anew from `seed`.
    static func start(seed: UInt64) {
        precondition(installed, "SQLite refuses the simulated system")
        randomness.withLock { $0 = seed }
        // "If N is less than one, or P is NULL, then the internal state of the generator is reset" (sqlite3_randomness).
        sqlite3_randomness(0, nil)
    }

    /// - Parameter time: Milliseconds since 1970 on the machine whose code runs next.
    static func set(time: Int64) { milliseconds.store(time, ordering: .relaxed) }

    private static var julianMilliseconds: Int64 { milliseconds.load(ordering: .relaxed) + 210_866_760_000_000 }

    private static func draw() -> UInt64 {
        randomness.withLock { state in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
    }
}

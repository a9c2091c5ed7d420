import CSimDisk
import Journal

/// A disk in memory that records what was synced and what was not, and fails on demand.
///
/// Production code works on it unchanged: SQLite reaches it through the process's default VFS, and Tandem's
/// own files through ``files``, which ``options(_:)`` sets.
///
/// ```swift
/// let disk = SimulatedDisk()
/// let replica = try disk.makeReplica("a.sqlite", InitializeRequest())
/// try replica.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
/// let later = disk.powerLoss(seed: 7)           // the same machine, after a loss of power at this moment
/// let survivor = try later.openReplica("a.sqlite")
/// ```
///
/// One disk is one machine with one directory. All connections with open files on it are its processes;
/// ``crash()`` kills all of them. Any thread may call any function.
package final class SimulatedDisk: Sendable {
    /// The C side has its own lock, and only `deinit` releases the disk.
    nonisolated(unsafe) let disk: OpaquePointer

    /// - Parameter machine: The machine of the disk. It tells files apart from their copies on other
    ///   machines.
    package init(machine: UInt64 = 1) {
        precondition(simdisk_register() == 0, "SQLite refuses the VFS")
        disk = SimulatedDisk.made(simdisk_create(machine))
    }

    init(taking disk: OpaquePointer?) { self.disk = SimulatedDisk.made(disk) }

    deinit { simdisk_release(disk) }

    /// A test without memory for a disk cannot continue.
    private static func made(_ disk: OpaquePointer?) -> OpaquePointer {
        guard let disk else { preconditionFailure("no memory for a simulated disk") }
        return disk
    }

    // MARK: - Files

    /// The path of the file `name`. The name has no slash.
    package func path(_ name: String) -> String { directory + "/" + name }

    package var directory: String { String(cString: simdisk_directory(disk)) }

    /// For ``Replica/Options/files``.
    package var files: any FileSystem { SimulatedFiles(disk: self) }

    /// Options for a replica on this disk.
    package func options(_ options: Replica.Options = Replica.Options()) -> Replica.Options {
        var options = options
        options.files = files
        return options
    }

    /// ``Replica/create(at:_:mayCreate:options:)`` for a file of this disk. Creates a missing file.
    package func makeReplica(
        _ name: String, _ request: InitializeRequest, options: Replica.Options = Replica.Options()
    ) throws -> Replica {
        try Replica.create(at: path(name), request, mayCreate: true, options: self.options(options)).replica
    }

    /// ``Replica/open(at:options:)`` for a file of this disk.
    package func openReplica(_ name: String, options: Replica.Options = Replica.Options()) throws -> Replica {
        try Replica.open(at: path(name), options: self.options(options))
    }

    /// The size in bytes; nil for a missing file.
    package func size(of name: String) -> Int64? {
        let size = simdisk_file_size(disk, name)
        return size < 0 ? nil : size
    }

    /// Copies a file as `cp` does, from this disk to another or to itself, into the file that is there or
    /// into a new one. The copied bytes are synced, and so are all names on the other disk. The `-wal` of a
    /// database is a file of its own.
    ///
    /// - Returns: False when there is no such file.
    @discardableResult
    package func copyFile(_ name: String, to other: SimulatedDisk, as newName: String) -> Bool {
        simdisk_file_copy(disk, name, other.disk, newName) == 0
    }

    /// - Returns: False when there is no such file.
    @discardableResult
    package func deleteFile(_ name: String) -> Bool { simdisk_file_delete(disk, name) == 0 }

    /// Flips one bit on the medium (bit rot).
    ///
    /// - Returns: False when the file has no such byte.
    @discardableResult
    package func flipBit(of name: String, at offset: Int64, bit: Int) -> Bool {
        simdisk_file_flip(disk, name, offset, Int32(clamping: bit)) == 0
    }

    /// A hash of all names and bytes, as programs see them.
    package var digest: UInt64 { simdisk_digest(disk) }

    // MARK: - Time and randomness

    /// Sets SQLite's 'now' for connections to this disk, in milliseconds since 1970; nil for the real time.
    package func setTime(milliseconds: Int64?) { simdisk_set_time(disk, milliseconds ?? .min) }

    /// With true, waiting for a lock takes no time, so a busy timeout passes at once. For tests with one
    /// thread.
    package func setVirtualSleep(_ isOn: Bool) { simdisk_set_virtual_sleep(disk, isOn ? 1 : 0) }

    /// Seeds SQLite's own randomness in this process (salts of logs, `randomblob`).
    package static func seedRandomness(_ seed: UInt64) {
        precondition(simdisk_register() == 0, "SQLite refuses the VFS")
        simdisk_seed_randomness(seed)
    }

    /// Sets the bytes that fit on the disk; nil for no limit. A write beyond the limit fails half done, as on
    /// a full disk.
    package func setCapacity(bytes: Int64?) { simdisk_set_capacity(disk, bytes ?? 0) }

    // MARK: - Crashes

    /// Kills all processes on the machine: connections fail from then on and change nothing, and locks and
    /// shared memory are removed. Files keep what was written, synced or not. Nothing can be opened before
    /// ``start()``.
    package func crash() { simdisk_crash(disk) }

    /// Lets files be opened again after ``crash()``.
    package func start() { simdisk_start(disk) }

    /// True between a crash and ``start()``, also after a crash by a fault.
    package var isDown: Bool { simdisk_is_down(disk) != 0 }

    /// A copy of the disk, with its unsynced writes, as the same files on the same machine. Nobody has the
    /// copy open.
    package func copy() -> SimulatedDisk { SimulatedDisk(taking: simdisk_copy(disk)) }

    /// The disk that the machine finds after a loss of power at this moment. This disk does not change.
    ///
    /// - Parameters:
    ///   - seed: The same disk, seed and loss give the same bytes.
    ///   - loss: What happens to writes that were not synced.
    package func powerLoss(seed: UInt64, _ loss: Loss = .bySeed) -> SimulatedDisk {
        SimulatedDisk(taking: simdisk_power_loss(disk, seed, loss.kind))
    }

    /// What a loss of power does to writes and names that were not synced.
    package enum Loss: String, CaseIterable, Sendable {
        /// One of the other kinds, drawn by the seed.
        case bySeed
        case all
        case none
        /// Writes after some moment are lost; the write at that moment is torn.
        case tail
        /// Each write survives or is lost.
        case writes
        /// Each sector of each write survives or is lost: 512 bytes or 4 KiB.
        case sectors
        /// Some writes survive, and reached the medium in another order.
        case reordered

        var kind: simdisk_loss {
            switch self {
            case .bySeed: SIMDISK_LOSS_BY_SEED
            case .all: SIMDISK_LOSS_ALL
            case .none: SIMDISK_LOSS_NONE
            case .tail: SIMDISK_LOSS_TAIL
            case .writes: SIMDISK_LOSS_WRITES
            case .sectors: SIMDISK_LOSS_SECTORS
            case .reordered: SIMDISK_LOSS_REORDERED
            }
        }
    }

    /// The bytes and names that a loss of power may take at this moment.
    package var unsynced: (bytes: Int64, names: Int) {
        (simdisk_unsynced_bytes(disk), Int(simdisk_unsynced_names(disk)))
    }

    // MARK: - Operations and faults

    /// The number of operations of these kinds since the disk was made, with those that failed.
    package func count(_ operations: Operations = .all) -> Int {
        Int(clamping: simdisk_operations(disk, operations.rawValue))
    }

    /// For a disk from ``copy()`` or ``takeCapture()``: the number of operations that its original had done.
    package var copiedAfter: Int { Int(clamping: simdisk_copied_after(disk)) }

    /// Arms a fault. Up to 16 faults may be armed.
    ///
    /// - Returns: A number for ``happened(_:)``.
    @discardableResult
    package func add(_ fault: Fault) -> Int {
        let number = simdisk_add_fault(disk, fault.plan)
        precondition(number >= 0, "too many faults on one simulated disk")
        return Int(number)
    }

    package func clearFaults() { simdisk_clear_faults(disk) }

    /// While true, faults stay armed but do not happen, and count no operations.
    package var holdsFaults: Bool {
        get { simdisk_holds_faults(disk) != 0 }
        set { simdisk_hold_faults(disk, newValue ? 1 : 0) }
    }

    /// Runs `body`, such as a check with a connection of its own, without faults.
    package func withoutFaults<T>(_ body: () throws -> T) rethrows -> T {
        let before = holdsFaults
        holdsFaults = true
        defer { holdsFaults = before }
        return try body()
    }

    /// The number of times that a fault happened.
    package func happened(_ fault: Int) -> Int {
        Int(clamping: simdisk_fault_count(disk, Int32(clamping: fault)))
    }

    /// The oldest copy that a fault of the kind ``Fault/Kind/capture`` set aside; at most 64 wait.
    package func takeCapture() -> SimulatedDisk? {
        simdisk_take_capture(disk).map { SimulatedDisk(taking: $0) }
    }

    /// How well processes keep the rule that one process at a time checkpoints, under the lock of
    /// `<database>-checkpoint`.
    package var checkpoints: Checkpoints {
        let count = simdisk_checkpoints(disk)
        return Checkpoints(
            writes: Int(clamping: count.writes), outsideLock: Int(clamping: count.outside_lock),
            restarts: Int(clamping: count.restarts), idleStarts: Int(clamping: count.idle_starts))
    }

    package struct Checkpoints: Hashable, Sendable {
        /// Writes into a database whose log is in use; only checkpoints make them.
        package var writes: Int
        /// The writes without the lock.
        package var outsideLock: Int
        /// The number of restarts of a log at its beginning.
        package var restarts: Int
        /// The number of checkpoints that began while the whole log was in the database: the start of
        /// SQLite's WAL-reset bug.
        package var idleStarts: Int
    }
}

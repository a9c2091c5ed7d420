import CSimDisk
import Journal

/// A disk in memory, which remembers what was synced and what was not, and fails when it is told to.
///
/// Production code works on it unchanged: SQLite reaches it through the process's default VFS, and Tandem's own files through
/// ``files``, which ``options(_:)`` hands in.
///
/// ```swift
/// let disk = SimulatedDisk()
/// let replica = try disk.makeReplica("a.sqlite", InitializeRequest())
/// try replica.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
/// let later = disk.powerLoss(seed: 7)                  // the same machine, after a loss of power at this moment
/// let survivor = try later.openReplica("a.sqlite")
/// ```
///
/// One disk stands for one machine with one directory. A process on it is whatever has files of it open; ``crash()`` kills all of them.
/// Any thread may call anything.
public final class SimulatedDisk: Sendable {
    /// The C side locks by itself, and `deinit` is the only one to release it.
    nonisolated(unsafe) let disk: OpaquePointer

    /// - Parameter machine: Which machine the disk is in. Files are told from their copies on other machines by it.
    public init(machine: UInt64 = 1) {
        precondition(simdisk_register() == 0, "SQLite refuses the VFS")
        disk = SimulatedDisk.made(simdisk_create(machine))
    }

    init(taking disk: OpaquePointer?) { self.disk = SimulatedDisk.made(disk) }

    deinit { simdisk_release(disk) }

    /// A test without memory for a disk cannot go on in any useful way.
    private static func made(_ disk: OpaquePointer?) -> OpaquePointer {
        guard let disk else { preconditionFailure("no memory for a simulated disk") }
        return disk
    }

    // MARK: - Files

    /// Where the file `name` is. The name holds no slash.
    public func path(_ name: String) -> String { directory + "/" + name }

    public var directory: String { String(cString: simdisk_directory(disk)) }

    /// For ``Replica/Options/files``.
    public var files: any FileSystem { SimulatedFiles(disk: self) }

    /// Options for a replica on this disk.
    public func options(_ options: Replica.Options = Replica.Options()) -> Replica.Options {
        var options = options
        options.files = files
        return options
    }

    /// ``Replica/create(at:_:mayCreate:options:)`` for a file of this disk, which is made if it is missing.
    public func makeReplica(
        _ name: String, _ request: InitializeRequest, options: Replica.Options = Replica.Options()
    ) throws -> Replica {
        try Replica.create(at: path(name), request, mayCreate: true, options: self.options(options)).replica
    }

    /// ``Replica/open(at:options:)`` for a file of this disk.
    public func openReplica(_ name: String, options: Replica.Options = Replica.Options()) throws -> Replica {
        try Replica.open(at: path(name), options: self.options(options))
    }

    /// Bytes; nil when there is no such file.
    public func size(of name: String) -> Int64? {
        let size = simdisk_file_size(disk, name)
        return size < 0 ? nil : size
    }

    /// Copies a file as `cp` does, from this disk to another or itself: into the file that is there, or into a new one. What it writes is
    /// synced, and so are all names on the other disk. The `-wal` of a database is a file of its own.
    ///
    /// - Returns: False when there is no such file.
    @discardableResult
    public func copyFile(_ name: String, to other: SimulatedDisk, as newName: String) -> Bool {
        simdisk_file_copy(disk, name, other.disk, newName) == 0
    }

    /// - Returns: False when there is no such file.
    @discardableResult
    public func deleteFile(_ name: String) -> Bool { simdisk_file_delete(disk, name) == 0 }

    /// Changes one bit on the medium, as decay does.
    ///
    /// - Returns: False when the file has no such byte.
    @discardableResult
    public func flipBit(of name: String, at offset: Int64, bit: Int) -> Bool {
        simdisk_file_flip(disk, name, offset, Int32(clamping: bit)) == 0
    }

    /// A hash of all names and bytes, as programs see them.
    public var digest: UInt64 { simdisk_digest(disk) }

    // MARK: - Time and chance

    /// What SQLite's 'now' is for connections to this disk, in milliseconds since 1970; nil for the time of the machine.
    public func setTime(milliseconds: Int64?) { simdisk_set_time(disk, milliseconds ?? .min) }

    /// With true, waiting for a lock takes no time: a busy timeout passes at once. For tests with one thread.
    public func setVirtualSleep(_ isOn: Bool) { simdisk_set_virtual_sleep(disk, isOn ? 1 : 0) }

    /// Makes SQLite's own randomness in this process (salts of logs, `randomblob`) follow from `seed`.
    public static func seedRandomness(_ seed: UInt64) {
        precondition(simdisk_register() == 0, "SQLite refuses the VFS")
        simdisk_seed_randomness(seed)
    }

    /// How much fits on the disk; nil for no limit. Beyond it a write fails as on a full disk, half done.
    public func setCapacity(bytes: Int64?) { simdisk_set_capacity(disk, bytes ?? 0) }

    // MARK: - Crashes

    /// All processes on the machine die: connections fail from now on, and change nothing any more; locks and shared memory are gone. Files keep
    /// what was written, synced or not. Nothing can be opened before ``start()``.
    public func crash() { simdisk_crash(disk) }

    /// Lets files be opened again after ``crash()``.
    public func start() { simdisk_start(disk) }

    /// True between a crash, also one by a fault, and ``start()``.
    public var isDown: Bool { simdisk_is_down(disk) != 0 }

    /// The disk as it is, with what was not synced, for the same files on the same machine. Nobody has it open.
    public func copy() -> SimulatedDisk { SimulatedDisk(taking: simdisk_copy(disk)) }

    /// The disk that the machine finds after a loss of power at this moment. This disk does not change.
    ///
    /// - Parameters:
    ///   - seed: The same disk, seed and loss give the same bytes.
    ///   - loss: What becomes of writes that were not synced.
    public func powerLoss(seed: UInt64, _ loss: Loss = .bySeed) -> SimulatedDisk {
        SimulatedDisk(taking: simdisk_power_loss(disk, seed, loss.kind))
    }

    /// What becomes of writes, and of names, that were not synced when the power goes.
    public enum Loss: String, CaseIterable, Sendable {
        /// One of the others.
        case bySeed
        case all
        case none
        /// Those after some moment are gone; the one at that moment is torn.
        case tail
        /// Each is there or not.
        case writes
        /// Each sector of each is there or not: 512 bytes or 4 KiB.
        case sectors
        /// Some are there, and came to the medium in another order.
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

    /// How much a loss of power may take at this moment.
    public var unsynced: (bytes: Int64, names: Int) {
        (simdisk_unsynced_bytes(disk), Int(simdisk_unsynced_names(disk)))
    }

    // MARK: - Operations and faults

    /// How many operations of these kinds were done since the disk was made, failed ones included.
    public func count(_ operations: Operations = .all) -> Int {
        Int(clamping: simdisk_operations(disk, operations.rawValue))
    }

    /// Of a disk from ``copy()`` or ``takeCapture()``: how many operations its original had done by then.
    public var copiedAfter: Int { Int(clamping: simdisk_copied_after(disk)) }

    /// Arms a fault. Up to 16 stand at once.
    ///
    /// - Returns: A number for ``happened(_:)``.
    @discardableResult
    public func add(_ fault: Fault) -> Int {
        let number = simdisk_add_fault(disk, fault.plan)
        precondition(number >= 0, "too many faults on one simulated disk")
        return Int(number)
    }

    public func clearFaults() { simdisk_clear_faults(disk) }

    /// While true, faults stay armed, but nothing goes wrong and they count no operations.
    public var holdsFaults: Bool {
        get { simdisk_holds_faults(disk) != 0 }
        set { simdisk_hold_faults(disk, newValue ? 1 : 0) }
    }

    /// Looks on from outside, with connections of its own: no fault happens meanwhile.
    public func withoutFaults<T>(_ body: () throws -> T) rethrows -> T {
        let before = holdsFaults
        holdsFaults = true
        defer { holdsFaults = before }
        return try body()
    }

    /// How often a fault has happened.
    public func happened(_ fault: Int) -> Int {
        Int(clamping: simdisk_fault_count(disk, Int32(clamping: fault)))
    }

    /// The oldest copy that a fault of the kind ``Fault/Kind/capture`` set aside; at most 64 wait.
    public func takeCapture() -> SimulatedDisk? {
        simdisk_take_capture(disk).map { SimulatedDisk(taking: $0) }
    }

    /// What became of the rule that one process at a time moves a log into its database, under the lock of `<database>-checkpoint`.
    public var checkpoints: Checkpoints {
        let count = simdisk_checkpoints(disk)
        return Checkpoints(
            writes: Int(clamping: count.writes), outsideLock: Int(clamping: count.outside_lock),
            restarts: Int(clamping: count.restarts), idleStarts: Int(clamping: count.idle_starts))
    }

    public struct Checkpoints: Hashable, Sendable {
        /// Writes into a database whose log is in use; only checkpoints make them.
        public var writes: Int
        /// Of those: while nobody held the lock.
        public var outsideLock: Int
        /// How often a log began anew.
        public var restarts: Int
        /// How often one began while all of the log was in the database: there SQLite's WAL-reset bug begins.
        public var idleStarts: Int
    }
}

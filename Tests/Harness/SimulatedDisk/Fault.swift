import CSimDisk

extension SimulatedDisk {
    /// Kinds of operations on files. Each call of SQLite's VFS is one, and so is each call of a ``Journal/FileSystem``.
    public struct Operations: OptionSet, Hashable, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        private init(_ operation: some BinaryInteger) { rawValue = UInt32(truncatingIfNeeded: operation) }

        public static let open = Operations(SIMDISK_OPEN)
        public static let read = Operations(SIMDISK_READ)
        public static let write = Operations(SIMDISK_WRITE)
        public static let truncate = Operations(SIMDISK_TRUNCATE)
        public static let sync = Operations(SIMDISK_SYNC)
        /// Renaming, too.
        public static let delete = Operations(SIMDISK_DELETE)
        /// Locks of the rollback journal's time, and those of Tandem's own files.
        public static let lock = Operations(SIMDISK_LOCK)
        /// Locks of the write-ahead log.
        public static let shareLock = Operations(SIMDISK_SHARE_LOCK)
        public static let shareMap = Operations(SIMDISK_SHARE_MAP)
        /// Syncs of the directory.
        public static let namesSync = Operations(SIMDISK_NAMES_SYNC)

        public static let all = Operations(rawValue: 1_023)
        /// Those that change what is on the disk or make it durable.
        public static let changes: Operations = [.open, .write, .truncate, .sync, .delete, .namesSync]
        public static let locks: Operations = [.lock, .shareLock]
    }

    /// Which files.
    public struct Roles: OptionSet, Hashable, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        private init(_ role: some BinaryInteger) { rawValue = UInt32(truncatingIfNeeded: role) }

        public static let database = Roles(SIMDISK_DATABASE)
        /// `-wal`.
        public static let log = Roles(SIMDISK_LOG)
        /// `-journal`.
        public static let journal = Roles(SIMDISK_JOURNAL)
        /// Tandem's own, such as `-identity`, and the directory.
        public static let side = Roles(SIMDISK_SIDE)
        public static let all = Roles(rawValue: 15)
    }

    /// Something that goes wrong on a disk.
    public struct Fault: Hashable, Sendable {
        public enum Kind: String, CaseIterable, Sendable {
            /// An input/output error. Writes before a failed sync are lost at a loss of power even when a later sync succeeds.
            case fail
            /// No space left; half of a write may be done.
            case full
            /// Somebody else has the lock.
            case busy
            /// Half of a write is done, then there is an error.
            case short
            /// A bit of what is read or written is another one, without an error.
            case flip
            /// ``SimulatedDisk/crash()`` in place of the operation.
            case crashBefore
            /// ``SimulatedDisk/crash()`` right after the operation.
            case crashAfter
            /// A copy of the disk is set aside right before the operation, see ``SimulatedDisk/takeCapture()``.
            case capture

            var action: simdisk_action {
                switch self {
                case .fail: SIMDISK_FAIL
                case .full: SIMDISK_FULL
                case .busy: SIMDISK_BUSY
                case .short: SIMDISK_SHORT
                case .flip: SIMDISK_FLIP
                case .crashBefore: SIMDISK_CRASH_BEFORE
                case .crashAfter: SIMDISK_CRASH_AFTER
                case .capture: SIMDISK_CAPTURE
                }
            }
        }

        public enum Moment: Hashable, Sendable {
            /// From the `first`-th operation from now on, 1…, for `times` operations in a row; only operations of ``Fault/operations`` on
            /// files of ``Fault/roles`` count. Those that the fault cannot do anything to pass by.
            case at(_ first: Int, times: Int = 1)
            /// With each such operation by chance: `perMillion` of a million, drawn from `seed`.
            case random(perMillion: Int, seed: UInt64)

            public static func from(_ first: Int) -> Moment { .at(first, times: .max) }
        }

        public var kind: Kind
        public var moment: Moment
        public var operations: Operations
        public var roles: Roles

        public init(_ kind: Kind, _ moment: Moment, of operations: Operations = .all, on roles: Roles = .all) {
            self.kind = kind
            self.moment = moment
            self.operations = operations
            self.roles = roles
        }

        var plan: simdisk_fault {
            var plan = simdisk_fault()
            plan.operations = operations.rawValue
            plan.roles = roles.rawValue
            plan.action = kind.action
            switch moment {
            case .at(let first, let times):
                plan.first = UInt64(clamping: max(1, first))
                plan.times = UInt64(clamping: times)
                // Which bit, where a bit is to be another one.
                plan.seed = plan.first
            case .random(let perMillion, let seed):
                plan.rate = UInt32(clamping: Int64(perMillion) * Int64(UInt32.max) / 1_000_000)
                plan.seed = seed
            }
            return plan
        }
    }
}

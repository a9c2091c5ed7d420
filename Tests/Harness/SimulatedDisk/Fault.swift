import CSimDisk

extension SimulatedDisk {
    /// Kinds of operations on files. Each call of SQLite's VFS is one operation, and so is each call of a
    /// ``Journal/FileSystem``.
    package struct Operations: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        private init(_ operation: some BinaryInteger) { rawValue = UInt32(truncatingIfNeeded: operation) }

        package static let open = Operations(SIMDISK_OPEN)
        package static let read = Operations(SIMDISK_READ)
        package static let write = Operations(SIMDISK_WRITE)
        package static let truncate = Operations(SIMDISK_TRUNCATE)
        package static let sync = Operations(SIMDISK_SYNC)
        /// Also renaming.
        package static let delete = Operations(SIMDISK_DELETE)
        /// Locks of a rollback journal, and locks of Tandem's own files.
        package static let lock = Operations(SIMDISK_LOCK)
        /// Locks of the write-ahead log.
        package static let shareLock = Operations(SIMDISK_SHARE_LOCK)
        package static let shareMap = Operations(SIMDISK_SHARE_MAP)
        /// Syncs of the directory.
        package static let namesSync = Operations(SIMDISK_NAMES_SYNC)

        package static let all = Operations(rawValue: 1_023)
        /// Operations that change the disk's content or make it durable.
        package static let changes: Operations = [.open, .write, .truncate, .sync, .delete, .namesSync]
        package static let locks: Operations = [.lock, .shareLock]
    }

    /// Roles of files.
    package struct Roles: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        private init(_ role: some BinaryInteger) { rawValue = UInt32(truncatingIfNeeded: role) }

        package static let database = Roles(SIMDISK_DATABASE)
        /// `-wal`.
        package static let log = Roles(SIMDISK_LOG)
        /// `-journal`.
        package static let journal = Roles(SIMDISK_JOURNAL)
        /// Tandem's own files, such as `-identity`, and the directory.
        package static let side = Roles(SIMDISK_SIDE)
        package static let all = Roles(rawValue: 15)
    }

    /// A fault of a disk.
    package struct Fault: Hashable, Sendable {
        package enum Kind: String, CaseIterable, Sendable {
            /// An input/output error. Writes before a failed sync are lost at a loss of power, even when a
            /// later sync succeeds.
            case fail
            /// No space left; half of a write may be done.
            case full
            /// Another connection holds the lock.
            case busy
            /// Half of a write is done, then an error follows.
            case short
            /// One bit of what is read or written is wrong, without an error.
            case flip
            /// ``SimulatedDisk/crash()`` instead of the operation.
            case crashBefore
            /// ``SimulatedDisk/crash()`` right after the operation.
            case crashAfter
            /// A copy of the disk is set aside before the operation, see ``SimulatedDisk/takeCapture()``.
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

        package enum Moment: Hashable, Sendable {
            /// The fault happens at the `first`-th operation, 1 for the next one, and at `times` operations
            /// in a row. Only operations of ``Fault/operations`` on files of ``Fault/roles`` count, and only
            /// those that the fault can affect.
            case at(_ first: Int, times: Int = 1)
            /// The fault happens at random: at `perMillion` of a million such operations, drawn from `seed`.
            case random(perMillion: Int, seed: UInt64)

            package static func from(_ first: Int) -> Moment { .at(first, times: .max) }
        }

        package var kind: Kind
        package var moment: Moment
        package var operations: Operations
        package var roles: Roles

        package init(_ kind: Kind, _ moment: Moment, of operations: Operations = .all, on roles: Roles = .all) {
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
                // The seed chooses the bit to flip.
                plan.seed = plan.first
            case .random(let perMillion, let seed):
                plan.rate = UInt32(clamping: Int64(perMillion) * Int64(UInt32.max) / 1_000_000)
                plan.seed = seed
            }
            return plan
        }
    }
}

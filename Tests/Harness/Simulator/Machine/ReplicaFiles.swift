import SimulatedDisk

/// A copy of a replica's files at one moment, as a disk holds them, without shared memory.
struct ReplicaFiles {
    /// The name of the database on every disk.
    static let database = "replica.sqlite"
    static let record = database + "-identity"
    static let names = [database, database + "-wal", record]

    private let disk = SimulatedDisk()

    init(on source: SimulatedDisk) {
        for name in ReplicaFiles.names { source.copyFile(name, to: disk, as: name) }
    }

    /// Writes the files to a disk, under the inodes of those that are there. Nobody may have them open.
    ///
    /// - Parameters:
    ///   - isNew: True to delete existing files first, so that the files have new inodes.
    ///   - withRecord: False to keep the record beside the database as it is.
    func write(to target: SimulatedDisk, isNew: Bool, withRecord: Bool) {
        target.withoutFaults {
            let names = ReplicaFiles.names.filter { withRecord || $0 != ReplicaFiles.record }
            for name in names where isNew || disk.size(of: name) == nil { target.deleteFile(name) }
            for name in names { disk.copyFile(name, to: target, as: name) }
        }
    }
}

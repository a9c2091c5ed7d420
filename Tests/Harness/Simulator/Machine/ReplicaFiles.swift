import SimulatedDisk

/// A copy of a replica's files as a disk holds them at one moment; what lives in shared memory only is not among them.
struct ReplicaFiles {
    /// The database's name on every disk.
    static let database = "replica.sqlite"
    static let record = database + "-identity"
    static let names = [database, database + "-wal", record]

    private let disk = SimulatedDisk()

    init(on source: SimulatedDisk) {
        for name in ReplicaFiles.names { source.copyFile(name, to: disk, as: name) }
    }

    /// Puts the files on a disk, under the inodes of those that are there. Nobody may have them open.
    ///
    /// - Parameters:
    ///   - isNew: True to delete what is there first, so that the files are other ones.
    ///   - withRecord: False to leave alone the record beside the database.
    func write(to target: SimulatedDisk, isNew: Bool, withRecord: Bool) {
        target.withoutFaults {
            let names = ReplicaFiles.names.filter { withRecord || $0 != ReplicaFiles.record }
            for name in names where isNew || disk.size(of: name) == nil { target.deleteFile(name) }
            for name in names { disk.copyFile(name, to: target, as: name) }
        }
    }
}

import CFileShim

#if canImport(Glibc)
    import Glibc
#endif

/// Distinguishes a file from its copies without its content: by machine, inode and creation time.
///
/// The fingerprint stays the same when the file is renamed and when the machine restarts. It does not include
/// the device number, which may change with each mount. It includes the creation time, because ext4 gives the
/// inode of a deleted file to the next file.
package struct FileFingerprint: Hashable, Sendable {
    /// A hash of the machine's id; 0 when there is none.
    let machine: UInt64
    let inode: UInt64
    /// The creation time in nanoseconds since 1970; 0 when the file system records none.
    let birth: Int64

    /// The fingerprint of the file at `path`; a symbolic link is followed. nil when there is no such file.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        machine = FileFingerprint.thisMachine
        inode = UInt64(status.st_ino)
        birth = tandem_birth_time(path)
    }

    /// - Parameters:
    ///   - machine: A number that no other machine has; 0 when it is unknown.
    ///   - inode: The file's inode number.
    ///   - birth: The creation time in nanoseconds since 1970; 0 when it is unknown.
    package init(machine: UInt64, inode: UInt64, birth: Int64) {
        self.machine = machine
        self.inode = inode
        self.birth = birth
    }

    /// Returns false when the two fingerprints certainly belong to different files. A part that is unknown on
    /// either side is not compared.
    package func canBeSameFile(as other: FileFingerprint) -> Bool {
        inode == other.inode
            && (birth == other.birth || birth == 0 || other.birth == 0)
            && (machine == other.machine || machine == 0 || other.machine == 0)
    }

    // MARK: - In `_journal_replica.fingerprint`

    /// `1 <machine> <inode> <birth>`, decimal.
    package var text: String { "1 \(machine) \(inode) \(birth)" }

    /// nil for a text in another form: the file then counts as one without a fingerprint.
    init?(text: String) {
        let words = text.split(separator: " ")
        guard words.count == 4, words[0] == "1", let machine = UInt64(words[1]), let inode = UInt64(words[2]),
            let birth = Int64(words[3])
        else { return nil }
        self.machine = machine
        self.inode = inode
        self.birth = birth
    }

    // MARK: - The machine

    /// A hash, because the machine id is confidential and files travel
    /// (https://www.freedesktop.org/software/systemd/man/machine-id.html). 0 in a container: its id is that
    /// of its image or of one run, and the file may outlive it.
    private static let thisMachine: UInt64 = {
        let isContainer = access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0
        guard !isContainer, let file = fopen("/etc/machine-id", "re") else { return 0 }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = fread(&bytes, 1, bytes.count, file)
        let id = bytes.prefix(count).prefix { $0 != 10 }
        return id.count == 32 ? Checksum.fnv1a("tandem".utf8 + Array(id)) : 0
    }()
}

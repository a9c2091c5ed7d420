#if canImport(Glibc)
    import Glibc
#endif

/// The file `<database>-identity`, which records the highest version of this file's own changes ever sent to
/// a peer, for each of its origins.
///
/// The record is outside of the database, so restoring the database does not restore the record. A database
/// that lacks a change that the record names was restored from an older copy, or lost commits in a power
/// loss. The record is written in place and synced, under a lock of its own because several processes may
/// send changes. It holds two copies of 1 024 bytes each. A write replaces the older copy, so a power loss
/// during the write leaves the newer copy intact:
///
///     tandem identity 2
///     turn <n>                          greater in the newer copy
///     mode wal                          only for a file that was in WAL mode before it became a replica
///     <origin> <version> <digest>       one line for each origin, the newest last
///     check <FNV-1a of all of the above>
///     newlines up to 1 024 bytes
///
/// Files that begin with `tandem identity 1` have one copy and no turn. A missing or damaged record contains
/// no evidence and is no error. A reader skips lines that it does not know.
package final class PublicationRecord: Sendable {
    /// The highest version that was sent under one origin, with the ``ChangeDigest`` of that change.
    package struct Entry: Hashable, Sendable {
        /// The origin under which the change was sent.
        package let origin: OriginID
        /// The highest version that was sent, 1 or more.
        package let version: Int64
        /// The ``ChangeDigest`` of that version.
        package let digest: UInt64

        /// - Parameters:
        ///   - origin: The origin under which the change was sent.
        ///   - version: The highest version that was sent, 1 or more.
        ///   - digest: The ``ChangeDigest`` of that version.
        package init(origin: OriginID, version: Int64, digest: UInt64) {
            self.origin = origin
            self.version = version
            self.digest = digest
        }
    }

    private static let header = "tandem identity 2"
    private static let firstHeader = "tandem identity 1"
    private static let size = 1_024
    private static let copies = 2
    /// Older origins are dropped. Only a backup from before the last ten changes of identity could need them.
    private static let mostEntries = 10

    /// The path of the record, beside the database itself and not beside a symbolic link to it.
    package let path: String
    private let files: any FileSystem

    /// - Parameter path: The database. A symbolic link is followed, so that all names of one file share one
    ///   record.
    package init(database path: String, files: any FileSystem = SystemFiles()) {
        self.path = files.resolved(path) + "-identity"
        self.files = files
    }

    /// The entries, one for each origin, the newest origin last. Empty when there is no usable record.
    ///
    /// - Throws: ``JournalError/Code/readOnly`` when the record exists and cannot be read, so that its
    ///   content is unknown.
    package func entries() throws -> [Entry] { try read()?.entries ?? [] }

    private func read() throws -> Copy? {
        try explaining { try files.withFile(path, .reading) { try PublicationRecord.newest($0) } ?? nil }
    }

    /// Records `entry` as the newest origin, unless the record already has that version or a later one. The
    /// record is on the disk when this function returns.
    ///
    /// - Throws: ``JournalError/Code/readOnly`` when the record cannot be written. Send no changes in that
    ///   case.
    package func raise(to entry: Entry) throws {
        try update { copy in
            if let known = copy.entries.last, known.origin == entry.origin, known.version >= entry.version {
                return false
            }
            copy.entries.removeAll { $0.origin == entry.origin }
            copy.entries = Array((copy.entries + [entry]).suffix(PublicationRecord.mostEntries))
            return true
        }
    }

    /// True when the file was in WAL mode before it became a replica, as far as the record tells.
    ///
    /// - Throws: As ``entries()``.
    func wasInWAL() throws -> Bool { try read()?.wasInWAL ?? false }

    /// Records the journal mode that the file had before it became a replica. WAL mode is a property of the
    /// file; all other modes are chosen by each connection, so they need no record.
    ///
    /// - Throws: ``JournalError/Code/readOnly`` when the record cannot be read or written.
    func note(wasInWAL: Bool) throws {
        guard try self.wasInWAL() != wasInWAL else { return }
        try update { copy in
            copy.wasInWAL = wasInWAL
            return true
        }
    }

    /// Writes the record as `change` makes it, unless `change` returns false. The record is on the disk when
    /// this function returns.
    private func update(_ change: (inout Copy) -> Bool) throws {
        _ = try explaining {
            try files.withFile(path, .updating) { file in
                let newest = try PublicationRecord.newest(file)
                var copy = newest ?? Copy()
                // The process that wrote it may have crashed before its sync.
                guard change(&copy) else { return try file.sync() }
                copy.turn &+= 1
                if newest != nil { copy.place = (copy.place + 1) % PublicationRecord.copies }
                // Sync the directory first: so a file with a readable copy always has a durable name.
                if newest == nil { try file.syncName() }
                let offset = copy.place * PublicationRecord.size
                do {
                    try file.write(PublicationRecord.encode(copy), at: offset)
                    try file.sync()
                } catch {
                    // The bytes are readable after a failed sync, but no later sync makes them durable. So no
                    // process may rely on them.
                    try? file.write([UInt8](repeating: 10, count: PublicationRecord.size), at: offset)
                    throw error
                }
            }
        }
    }

    private func explaining<T>(_ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let error as FileError {
            let reason = String(cString: strerror(error.code))
            throw JournalError(
                .readOnly, "The record of what was published, \(path), cannot be \(error.operation): \(reason)",
                hint: "The directory of the database must be writable; without the record nothing is sent to peers.")
        }
    }

    // MARK: - Bytes

    struct Copy {
        var turn: UInt64 = 0
        var wasInWAL = false
        var entries: [Entry] = []
        /// The index of the copy in the file, 0 or 1.
        var place = 0
    }

    private static let walLine = "mode wal"

    private static func newest(_ file: any OpenFile) throws -> Copy? {
        let bytes = try file.read(size * copies)
        return (0..<copies).compactMap { decode(bytes.dropFirst($0 * size).prefix(size), place: $0) }
            .max { $0.turn < $1.turn }
    }

    private static func encode(_ copy: Copy) -> [UInt8] {
        let lines =
            [header, "turn \(copy.turn)"] + (copy.wasInWAL ? [walLine] : [])
            + copy.entries.map { "\($0.origin) \($0.version) \($0.digest)" }
        let text = lines.joined(separator: "\n") + "\n"
        let bytes = Array((text + "check \(Checksum.fnv1a(text.utf8))\n").utf8)
        return bytes + [UInt8](repeating: 10, count: max(0, size - bytes.count))
    }

    private static func decode(_ bytes: ArraySlice<UInt8>, place: Int) -> Copy? {
        guard bytes.count == size else { return nil }
        var lines = bytes.split(separator: 10).map { String(decoding: $0, as: UTF8.self) }[...]
        guard let last = lines.popLast() else { return nil }
        let text = lines.joined(separator: "\n") + "\n"
        guard last == "check \(Checksum.fnv1a(text.utf8))" else { return nil }
        var turn: UInt64 = 0
        switch lines.popFirst() {
        case firstHeader: break
        case header:
            guard let line = lines.popFirst(), line.hasPrefix("turn "), let number = UInt64(line.dropFirst(5)) else {
                return nil
            }
            turn = number
        default: return nil
        }
        let entries = lines.compactMap { line -> Entry? in
            let words = line.split(separator: " ")
            guard words.count == 3, let origin = OriginID(hex: String(words[0])), let version = Int64(words[1]),
                let digest = UInt64(words[2])
            else { return nil }
            return Entry(origin: origin, version: version, digest: digest)
        }
        return Copy(turn: turn, wasInWAL: lines.contains(walLine), entries: entries, place: place)
    }
}

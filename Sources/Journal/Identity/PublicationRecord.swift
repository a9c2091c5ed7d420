#if canImport(Glibc)
    import Glibc
#endif

/// The file `<database>-identity`: how far this file's changes were ever handed to a peer, under which names.
///
/// It stands outside of the database, so it does not go back with it: a database that lacks what the record says was published was
/// restored from an older copy, or lost commits with the power. Written in place and synced under a lock of its own, because several
/// processes may publish. Two copies of 1 024 bytes each, and the older one is written over, so that a loss of power in the middle leaves
/// the newer one as it is:
///
///     tandem identity 2
///     turn <n>                          greater in the newer copy
///     <origin> <version> <digest>       one line a name, the newest last
///     check <FNV-1a of all of the above>
///     newlines up to 1 024 bytes
///
/// Files that begin with `tandem identity 1` have one copy and no turn. A record that is missing or damaged says nothing; that is no error.
public final class PublicationRecord: Sendable {
    /// The highest version that was handed out under one name, with the ``ChangeDigest`` of that very change.
    public struct Entry: Hashable, Sendable {
        /// The name.
        public let origin: OriginID
        /// The highest version that was handed out, 1 or more.
        public let version: Int64
        /// The ``ChangeDigest`` of that version.
        public let digest: UInt64

        /// - Parameters:
        ///   - origin: The name.
        ///   - version: The highest version that was handed out, 1 or more.
        ///   - digest: The ``ChangeDigest`` of that version.
        public init(origin: OriginID, version: Int64, digest: UInt64) {
            self.origin = origin
            self.version = version
            self.digest = digest
        }
    }

    private static let header = "tandem identity 2"
    private static let firstHeader = "tandem identity 1"
    private static let size = 1_024
    private static let copies = 2
    /// Older names are of no use: a file that old would have to be restored over one that was renamed so often since.
    private static let mostEntries = 10

    /// Where the record is: beside the database, whatever link led to it.
    public let path: String
    private let files: any FileSystem

    /// - Parameter path: The database. A symbolic link is followed, so that two names of one file share one record.
    public init(database path: String, files: any FileSystem = SystemFiles()) {
        self.path = files.resolved(path) + "-identity"
        self.files = files
    }

    /// One entry a name, the newest name last; empty when there is no usable record.
    ///
    /// - Throws: ``JournalError/Code/readOnly`` when there is a file that cannot be read: what it says is not known then.
    public func entries() throws -> [Entry] {
        try explaining {
            try files.withFile(path, .reading) { try PublicationRecord.newest($0) } ?? nil
        }?.entries ?? []
    }

    /// Records `entry` as the newest name, unless more of it is recorded already. On the disk when this returns.
    ///
    /// - Throws: ``JournalError/Code/readOnly`` when the record cannot be written. Nothing may be published then.
    public func raise(to entry: Entry) throws {
        _ = try explaining {
            try files.withFile(path, .updating) { file in
                let newest = try PublicationRecord.newest(file)
                var entries = newest?.entries ?? []
                if let known = entries.last, known.origin == entry.origin, known.version >= entry.version {
                    // Whoever wrote it may have died before it was on the disk.
                    return try file.sync()
                }
                entries.removeAll { $0.origin == entry.origin }
                entries.append(entry)
                let copy = Copy(
                    turn: (newest?.turn ?? 0) &+ 1, entries: Array(entries.suffix(PublicationRecord.mostEntries)),
                    place: newest.map { ($0.place + 1) % PublicationRecord.copies } ?? 0)
                // A file with a readable copy in it is then one whose name a loss of power does not take.
                if newest == nil { try file.syncName() }
                let offset = copy.place * PublicationRecord.size
                do {
                    try file.write(PublicationRecord.encode(copy), at: offset)
                    try file.sync()
                } catch {
                    // What a failed sync leaves can be read, and no later sync makes it durable: nobody may rely on it.
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
                .readOnly, "the record of what was published, \(path), cannot be \(error.operation): \(reason)",
                hint: "The directory of the database must be writable; without the record nothing is sent to peers.")
        }
    }

    // MARK: - Bytes

    struct Copy {
        var turn: UInt64
        var entries: [Entry]
        /// Which of the copies in the file it is.
        var place: Int
    }

    private static func newest(_ file: any OpenFile) throws -> Copy? {
        let bytes = try file.read(size * copies)
        return (0..<copies).compactMap { decode(bytes.dropFirst($0 * size).prefix(size), place: $0) }
            .max { $0.turn < $1.turn }
    }

    private static func encode(_ copy: Copy) -> [UInt8] {
        let lines =
            [header, "turn \(copy.turn)"] + copy.entries.map { "\($0.origin) \($0.version) \($0.digest)" }
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
        return Copy(turn: turn, entries: entries, place: place)
    }
}

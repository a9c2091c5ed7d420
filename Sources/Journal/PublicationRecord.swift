#if canImport(Glibc)
    import Glibc
#endif

/// The file `<database>-identity`: how far this file's changes were ever handed to a peer, under which names.
///
/// It stands outside of the database, so it does not go back with it: a database that lacks what the record says was published was
/// restored from an older copy. Written in place and synced under a lock of its own, because several processes may publish:
///
///     tandem identity 1
///     <origin> <version> <digest>       one line a name, the newest last
///     check <FNV-1a of all of the above>
///     newlines up to 1 024 bytes
///
/// A record that is missing or damaged says nothing; that is never an error.
public final class PublicationRecord: Sendable {
    /// The highest version that was handed out under one name, with the ``ChangeDigest`` of that very change.
    public struct Entry: Hashable, Sendable {
        public let origin: OriginID
        public let version: Int64
        public let digest: UInt64

        public init(origin: OriginID, version: Int64, digest: UInt64) {
            self.origin = origin
            self.version = version
            self.digest = digest
        }
    }

    private static let header = "tandem identity 1"
    private static let size = 1_024
    /// Older names are of no use: a file that old would have to be restored over one that was renamed so often since.
    private static let mostEntries = 10

    public let path: String

    /// - Parameter path: The database. A symbolic link is followed, so that two names of one file share one record.
    public init(database path: String) {
        let resolved = realpath(path, nil).map { pointer in
            defer { free(pointer) }
            return String(cString: pointer)
        }
        self.path = (resolved ?? path) + "-identity"
    }

    /// One entry a name, the newest name last; empty when there is no usable record.
    public func entries() -> [Entry] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_SH) == 0 else { return [] }
        return PublicationRecord.read(descriptor)
    }

    /// Records `entry` as the newest name, unless more of it is recorded already. On the disk when this returns.
    ///
    /// - Throws: ``JournalError/Code/readOnly`` when the record cannot be written. Nothing may be published then.
    public func raise(to entry: Entry) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("opened") }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX) == 0 else { throw failure("locked") }
        var entries = PublicationRecord.read(descriptor)
        if let known = entries.last, known.origin == entry.origin, known.version >= entry.version { return }
        entries.removeAll { $0.origin == entry.origin }
        entries.append(entry)
        let bytes = PublicationRecord.encode(entries.suffix(PublicationRecord.mostEntries))
        // In one write of a fixed size, so that syncing it touches no metadata.
        guard pwrite(descriptor, bytes, bytes.count, 0) == bytes.count else { throw failure("written") }
        guard fdatasync(descriptor) == 0 else { throw failure("synced") }
    }

    // MARK: - Bytes

    private static func read(_ descriptor: Int32) -> [Entry] {
        var bytes = [UInt8](repeating: 0, count: size)
        guard pread(descriptor, &bytes, size, 0) == size else { return [] }
        return decode(bytes)
    }

    private static func encode(_ entries: some Sequence<Entry>) -> [UInt8] {
        let lines = [header] + entries.map { "\($0.origin) \($0.version) \($0.digest)" }
        let text = lines.joined(separator: "\n") + "\n"
        let bytes = Array((text + "check \(Checksum.fnv1a(text.utf8))\n").utf8)
        return bytes + [UInt8](repeating: 10, count: max(0, size - bytes.count))
    }

    static func decode(_ bytes: [UInt8]) -> [Entry] {
        let lines = bytes.split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
        guard lines.first == header, let last = lines.last else { return [] }
        let text = lines.dropLast().joined(separator: "\n") + "\n"
        guard last == "check \(Checksum.fnv1a(text.utf8))" else { return [] }
        return lines.dropFirst().dropLast().compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 3, let origin = OriginID(hex: String(words[0])), let version = Int64(words[1]),
                let digest = UInt64(words[2])
            else { return nil }
            return Entry(origin: origin, version: version, digest: digest)
        }
    }

    private func failure(_ what: String) -> JournalError {
        JournalError(
            .readOnly,
            "the record of what was published, \(path), cannot be \(what): \(String(cString: strerror(errno)))",
            hint: "The directory of the database must be writable; without the record nothing is sent to peers.")
    }
}

import Journal

/// The keys of an archive's objects (docs/ARCHIVE.md). The leading number is the version of the layout.
enum ArchiveKeys {
    /// What the archive is: ``ArchiveMeta``.
    static let meta = "1/meta"
    /// The beginning of the keys of all heads.
    static let heads = "1/h/"
    /// The beginning of the keys of all acknowledgements.
    static let acknowledgements = "1/l/"
    /// The beginning of the keys of all manifests. They are apart from the parts, so that a listing is short.
    static let manifests = "1/m/"

    /// The head of a stream: ``StreamHead``.
    static func head(_ stream: StreamID) -> String { heads + stream.description }

    /// A pack of a stream: ``Pack``.
    ///
    /// - Parameter sequence: 1 or more; the digits keep the order of the numbers.
    static func pack(_ stream: StreamID, _ sequence: Int64) -> String {
        let digits = String(sequence)
        let zeros = String(repeating: "0", count: max(0, 10 - digits.utf8.count))
        return packs(of: stream) + zeros + digits
    }

    /// The beginning of the keys of all packs of a stream.
    static func packs(of stream: StreamID) -> String { "1/w/\(stream)/" }

    /// What a replica has merged: ``ArchivedAcknowledgement``.
    static func acknowledgement(_ origin: OriginID) -> String { acknowledgements + origin.description }

    /// What a snapshot consists of: ``ArchivedSnapshot``. It is written after the last part.
    static func manifest(_ id: String) -> String { manifests + id }

    /// A part of a snapshot, compressed with zstd.
    static func part(_ index: Int, of id: String) -> String { "\(parts)\(id)/\(index)" }

    /// The beginning of the keys of all parts of snapshots.
    static let parts = "1/s/"

    /// The snapshot to which the key of a part belongs.
    static func snapshot(ofPart key: String) -> String {
        String(key.dropFirst(parts.utf8.count).prefix { $0 != "/" })
    }

    /// The beginning of the keys of all marks of collections: ``CollectionMark``.
    static let marks = "1/g/"

    /// A mark of a collection, under a random name.
    static func mark(_ number: UInt64) -> String { marks + StreamID(number).description }

    /// The beginning of the keys that name packs and snapshots which a reader found missing or damaged. The objects
    /// are empty.
    static let damages = "1/d/"

    /// A pack that a reader found missing or damaged.
    static func damage(_ stream: StreamID, _ sequence: Int64) -> String { "\(damages)\(stream)/\(sequence)" }

    /// A snapshot of which a reader found a part missing or damaged.
    static func damage(ofSnapshot id: String) -> String { damagedSnapshots + id }

    /// The beginning of the keys of damaged snapshots. No stream is called `s`.
    static let damagedSnapshots = damages + "s/"

    /// The snapshot that a key names as damaged; nil for another key.
    static func damagedSnapshot(_ key: String) -> String? {
        key.hasPrefix(damagedSnapshots) ? String(key.dropFirst(damagedSnapshots.utf8.count)) : nil
    }

    /// The stream that the key of a damaged pack names; nil for another key.
    static func damagedStream(_ key: String) -> StreamID? {
        guard key.hasPrefix(damages) else { return nil }
        return StreamID(hex: String(key.dropFirst(damages.utf8.count).prefix { $0 != "/" }))
    }

    /// A key for ``StoreAbilities/probe(_:key:)``.
    static func probe(_ number: UInt64) -> String { "1/probe/\(StreamID(number))" }
}

/// The name of a stream: 16 hexadecimal digits, chosen at random.
struct StreamID: Sendable, Hashable, Comparable, CustomStringConvertible {
    let number: UInt64

    init(_ number: UInt64) { self.number = number }

    init?(hex: String) {
        guard hex.utf8.count == 16, hex.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }),
            let number = UInt64(hex, radix: 16)
        else { return nil }
        self.number = number
    }

    var description: String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    static func < (a: StreamID, b: StreamID) -> Bool { a.number < b.number }
}

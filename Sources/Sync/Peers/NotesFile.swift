import Journal

/// The form of the small files beside a database that hold what a daemon knows and does not commit.
///
/// Such a file begins with a line that says how many bytes of JSON follow and what their checksum is: a
/// shorter content leaves the rest of a longer one, and a loss of power may tear it.
enum NotesFile {
    /// Far more than the greatest vectors of all peers take.
    private static let mostBytes: Int64 = 64 << 20

    /// The bytes of the file at `path`; nil when there are none, and when it cannot be read.
    static func read(_ path: String, _ files: any FileSystem) -> [UInt8]? {
        guard let size = try? files.status(of: path)?.size, size > 0, size <= mostBytes else { return nil }
        return try? files.withFile(path, .reading, { try $0.read(Int(size)) }) ?? nil
    }

    static func frame(_ json: [UInt8], header: String) -> [UInt8] {
        Array("\(header) \(json.count) \(Checksum.fnv1a(json))\n".utf8) + json
    }

    /// The JSON in `bytes`; nil when they are not whole, or begin with another header.
    static func content(of bytes: [UInt8], header: String) -> ArraySlice<UInt8>? {
        guard let end = bytes.firstIndex(of: 10) else { return nil }
        let words = String(decoding: bytes[..<end], as: UTF8.self).split(separator: " ").suffix(2)
        guard bytes.starts(with: header.utf8), words.count == 2, let first = words.first, let last = words.last,
            let count = Int(first), let check = UInt64(last), count >= 0, count <= bytes.count - end - 1
        else { return nil }
        let json = bytes[(end + 1)..<(end + 1 + count)]
        return Checksum.fnv1a(json) == check ? json : nil
    }
}

import Foundation
import Journal

/// The file `<database>-ends`: where the snapshots of daemons have ended.
///
/// It is a header with the origin, and then 16 bytes for each end: the position and the code of the entry there, both
/// with the greatest byte first. The list ends where positions do not rise: 16 zero bytes follow the last one, because
/// a shorter list leaves the rest of a longer one. Nothing waits for the disk: a file that lost its last ends, or all,
/// means that more counts as unseen.
struct EndsFile: Sendable {
    /// The end of a snapshot.
    struct End: Hashable, Sendable {
        /// The position of the journal's last entry.
        let seq: Int64
        /// The ``EntryWitness/code`` of that entry.
        let code: UInt64
    }

    private static let header = Array("tandem ends 1\n".utf8)
    private static let originBytes = 16
    private static let start = header.count + originBytes
    private static let endBytes = 16

    private let path: String
    private let files: any FileSystem

    init(of replica: Replica) {
        files = replica.options.files
        path = files.resolved(replica.path) + "-ends"
    }

    /// What the file holds; nil when there is none, or it cannot be read.
    func read() -> (origin: Data, ends: [End])? {
        guard let size = try? files.status(of: path)?.size, size >= EndsFile.start,
            let bytes = try? files.withFile(
                path, .reading, { try $0.read(EndsFile.start + (SeenEnds.most + 1) * EndsFile.endBytes) }) ?? nil,
            bytes.count >= EndsFile.start, bytes.starts(with: EndsFile.header)
        else { return nil }
        var ends: [End] = []
        var at = EndsFile.start
        while at + EndsFile.endBytes <= bytes.count {
            func word(_ from: Int) -> UInt64 { bytes[from..<(from + 8)].reduce(0) { $0 << 8 | UInt64($1) } }
            let end = End(seq: Int64(bitPattern: word(at)), code: word(at + 8))
            guard end.seq > ends.last?.seq ?? 0 else { break }
            ends.append(end)
            at += EndsFile.endBytes
        }
        return (Data(bytes[EndsFile.header.count..<EndsFile.start]), ends)
    }

    /// Writes ends.
    ///
    /// - Parameter kept: How many of them the file has already; nil to write it anew.
    /// - Returns: False when they could not be written.
    func write(_ ends: [End], after kept: Int?, of origin: Data) -> Bool {
        guard origin.count == EndsFile.originBytes else { return false }
        var bytes: [UInt8] = kept == nil ? EndsFile.header + origin : []
        for end in ends.dropFirst(kept ?? 0) {
            for word in [UInt64(bitPattern: end.seq), end.code] {
                withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
            }
        }
        bytes += [UInt8](repeating: 0, count: EndsFile.endBytes)
        let offset = kept.map { EndsFile.start + $0 * EndsFile.endBytes } ?? 0
        return (try? files.withFile(path, .updating) { try $0.write(bytes, at: offset) }) ?? nil != nil
    }
}

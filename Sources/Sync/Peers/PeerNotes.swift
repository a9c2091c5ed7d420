import Foundation
import GRDB
import Journal

/// The file `<database>-peers`: what a running daemon knows of its peers and has not written to the database.
///
/// A commit would make a program's transaction fail that has read and is about to write, so contacts alone
/// cause none (decision 0020). Other processes read this file for `syncd status`. A file that a loss of power
/// has torn, or that belongs to another identity, counts as empty.
package struct PeerNotes: Sendable {
    private let path: String
    private let files: any FileSystem

    /// - Parameter replica: A symbolic link to its database is followed, so that all names share one file.
    package init(of replica: Replica) {
        files = replica.options.files
        path = files.resolved(replica.path) + "-peers"
    }

    /// The records, in the order of the addresses.
    ///
    /// - Parameter own: The replica's origin, for which the notes must have been taken.
    /// - Returns: An empty array when there are none, and when the file cannot be read.
    package func records(of own: OriginID) -> [PeerRecord] {
        NotesFile.read(path, files).flatMap { PeerNotes.decode($0, of: own) } ?? []
    }

    /// Replaces the records.
    ///
    /// - Throws: ``SyncError/Code/storage`` when the file cannot be written.
    func write(_ records: [PeerRecord], of own: OriginID) throws {
        let bytes = try PeerNotes.encode(records, of: own)
        do {
            _ = try files.withFile(path, .updating) { file in try file.write(bytes, at: 0) }
        } catch let error as FileError {
            throw SyncError(
                .storage,
                "The notes on peers, \(path), cannot be \(error.operation): \(String(cString: strerror(error.code)))",
                hint:
                    "The directory of the database must be writable; `syncd status FILE` shows old contacts until then."
            )
        }
    }

    /// Leaves no records. Does nothing when there is no file.
    ///
    /// - Throws: As ``write(_:of:)``.
    func clear(of own: OriginID) throws {
        guard let status = try? files.status(of: path), status.size > 0 else { return }
        try write([], of: own)
    }

    // MARK: - Bytes

    private static let header = "tandem peers 1"
    private struct Stored: Codable {
        var replica: String
        var peers: [Peer]

        struct Peer: Codable {
            var url: String
            var origin: String?
            var confirmed: Data
            var contact: Int64?
            var error: String?
            var compared: Int64?
            var mismatch: String?
        }
    }

    static func encode(_ records: [PeerRecord], of own: OriginID) throws -> [UInt8] {
        let stored = Stored(
            replica: own.description,
            peers: try records.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }.map { record in
                Stored.Peer(
                    url: record.name, origin: record.origin?.description, confirmed: PeerTable.encode(record.confirmed),
                    contact: record.lastContactMilliseconds, error: record.lastError,
                    compared: record.comparedMilliseconds,
                    mismatch: record.mismatches.isEmpty ? nil : try ContentMismatch.encode(record.mismatches))
            })
        let encoder = JSONEncoder()
        // The same records are the same bytes in every process.
        encoder.outputFormatting = .sortedKeys
        let json = Array(try encoder.encode(stored))
        return NotesFile.frame(json, header: header)
    }

    static func decode(_ bytes: [UInt8], of own: OriginID) -> [PeerRecord]? {
        guard let json = NotesFile.content(of: bytes, header: header),
            let stored = try? JSONDecoder().decode(Stored.self, from: Data(json)), stored.replica == own.description
        else { return nil }
        return stored.peers.map { peer in
            PeerRecord(
                name: peer.url, origin: peer.origin.flatMap { OriginID(hex: $0) },
                confirmed: PeerTable.decode(peer.confirmed), lastContactMilliseconds: peer.contact,
                lastError: peer.error, comparedMilliseconds: peer.compared,
                mismatches: peer.mismatch.map(ContentMismatch.decode) ?? [])
        }
    }
}

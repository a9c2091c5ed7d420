import Foundation
import Journal

/// The file `<database>-archives`: where this replica stands in each archive.
///
/// It only saves requests. Without it, the replica takes a new stream, and reads all packs again.
struct ArchiveNotes: Sendable {
    /// Where a replica stands in one archive.
    struct Position: Sendable, Hashable, Codable {
        /// The stream that it writes; nil before the first pack.
        var stream: StoredStream?
        /// The sequence of the next pack to write.
        @StoredSequence var next: Int64 = 1
        /// The digest of the last pack; nil before the first.
        var previous: SnapshotManifest.Digest?
        var reading = Reading()
    }

    /// How far the streams of others are read.
    struct Reading: Sendable, Hashable, Codable {
        /// For each stream, the first pack that may hold something new.
        var cursors: [ArchivedSnapshot.Cursor] = []
        /// What the packs before those have brought. A file that has less, as one that was restored from a backup,
        /// needs them again.
        var brought = StoredVector(VersionVector())
    }

    private struct Stored: Codable {
        var archives: [String: Position]
    }

    private static let header = "tandem archives 1"

    private let path: String
    private let files: any FileSystem

    init(path: String, files: any FileSystem = SystemFiles()) {
        self.files = files
        self.path = files.resolved(path) + "-archives"
    }

    init(of replica: Replica) { self.init(path: replica.path, files: replica.options.files) }

    /// - Parameter archive: The archive's name among replicas.
    func read(_ archive: OriginID) -> Position { all()[archive.description] ?? Position() }

    /// - Throws: ``SyncError/Code/storage`` when the file cannot be written.
    func write(_ position: Position, of archive: OriginID) throws {
        var archives = all()
        archives[archive.description] = position
        let json = try ArchiveJSON.encode(Stored(archives: archives))
        do {
            _ = try files.withFile(path, .updating) { file in
                try file.write(NotesFile.frame(json, header: ArchiveNotes.header), at: 0)
            }
        } catch let error as FileError {
            throw SyncError(
                .storage,
                "The place in the archive cannot be \(error.operation) in \(path): \(String(cString: strerror(error.code)))",
                hint: "The directory of the database must be writable.")
        }
    }

    private func all() -> [String: Position] {
        guard let bytes = NotesFile.read(path, files),
            let json = NotesFile.content(of: bytes, header: ArchiveNotes.header),
            let stored = try? JSONDecoder().decode(Stored.self, from: Data(json))
        else { return [:] }
        return stored.archives
    }
}

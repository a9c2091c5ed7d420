import Foundation
import Journal

/// The file `<database>-acks`: what other replicas have acknowledged, as this one heard it.
///
/// It is not in the database, because hearing of a replica must not commit anything there (decision 0020). A
/// file that is lost, torn or of another identity counts as empty: then compaction waits until the replicas
/// are met again.
struct AcknowledgementFile: Sendable {
    private static let header = "tandem acks 1"

    private let path: String
    private let files: any FileSystem

    /// - Parameter replica: A symbolic link to its database is followed, so that all names share one file.
    init(of replica: Replica) {
        files = replica.options.files
        path = files.resolved(replica.path) + "-acks"
    }

    private struct Stored: Codable {
        var replica: String
        var records: [Record]

        struct Record: Codable {
            var newest: Entry
            var usable: Entry?
            /// nil also from an older release.
            var doubted: Int64?
        }

        struct Entry: Codable {
            var origin: String
            var vector: Data
            var seen: Int64
            var witness: String

            init(_ acknowledgement: Acknowledgement) {
                origin = acknowledgement.origin.description
                vector = PeerTable.encode(acknowledgement.vector)
                seen = acknowledgement.milliseconds
                witness = acknowledgement.witness.description
            }

            var acknowledgement: Acknowledgement? {
                guard let origin = OriginID(hex: origin), let witness = OriginID(hex: witness) else { return nil }
                return Acknowledgement(
                    origin: origin, vector: PeerTable.decode(vector), milliseconds: seen, witness: witness)
            }
        }
    }

    /// - Parameter own: The replica's origin, for which the file must have been written.
    func read(of own: OriginID) -> Acknowledgements {
        guard let bytes = NotesFile.read(path, files),
            let json = NotesFile.content(of: bytes, header: AcknowledgementFile.header),
            let stored = try? JSONDecoder().decode(Stored.self, from: Data(json)), stored.replica == own.description
        else { return Acknowledgements() }
        return Acknowledgements(
            stored.records.compactMap { record in
                record.newest.acknowledgement.map {
                    Acknowledgements.Record(
                        newest: $0, usable: record.usable?.acknowledgement, doubted: record.doubted)
                }
            })
    }

    /// - Throws: ``SyncError/Code/storage`` when the file cannot be written.
    func write(_ acknowledgements: Acknowledgements, of own: OriginID) throws {
        let records = acknowledgements.records.sorted { $0.key < $1.key }.map {
            Stored.Record(
                newest: .init($0.value.newest), usable: $0.value.usable.map { .init($0) }, doubted: $0.value.doubted)
        }
        let encoder = JSONEncoder()
        // The same records are the same bytes in every process.
        encoder.outputFormatting = .sortedKeys
        let json = Array(try encoder.encode(Stored(replica: own.description, records: records)))
        do {
            _ = try files.withFile(path, .updating) { file in
                try file.write(NotesFile.frame(json, header: AcknowledgementFile.header), at: 0)
            }
        } catch let error as FileError {
            throw SyncError(
                .storage,
                "What other replicas acknowledged cannot be \(error.operation) in \(path): "
                    + String(cString: strerror(error.code)),
                hint: "The directory of the database must be writable; compaction waits until then.")
        }
    }
}

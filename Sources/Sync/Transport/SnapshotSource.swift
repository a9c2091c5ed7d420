/// A peer that gives a copy of its file.
public protocol SnapshotSource: Sendable {
    /// The peer's name in messages; holds no secret.
    var name: String { get }

    /// Requests a snapshot. The peer begins to copy its file when it has no recent one.
    ///
    /// - Throws: ``SyncError``: the peer's error, or a failure of the connection.
    func snapshot() async throws -> SnapshotAnswer

    /// Requests one part of a snapshot.
    ///
    /// - Parameters:
    ///   - id: The snapshot's ``SnapshotManifest/id``.
    ///   - index: The index of the part, from 0.
    ///   - size: The size of the part in bytes; a longer answer is refused.
    /// - Returns: The bytes of the part, which are not checked yet.
    /// - Throws: ``SyncError``: `notFound` when the peer no longer has that snapshot; the peer's error, or a
    ///   failure of the connection.
    func part(_ index: Int, of id: String, size: Int) async throws -> [UInt8]
}

extension CurlTransport: SnapshotSource {
    /// As ``SnapshotSource/snapshot()``, by `GET /v1/snapshot`.
    ///
    /// - Throws: As ``hello(_:)``.
    public func snapshot() async throws -> SnapshotAnswer {
        let body = try await get(WireHTTP.snapshotPath, type: WireHTTP.jsonType)
        do {
            return try SnapshotAnswer(jsonBody: body)
        } catch {
            throw SyncError(wrapping: error)
        }
    }

    /// As ``SnapshotSource/part(_:of:size:)``, by `GET /v1/snapshot/part`.
    ///
    /// - Throws: As ``hello(_:)``.
    public func part(_ index: Int, of id: String, size: Int) async throws -> [UInt8] {
        let path = "\(WireHTTP.snapshotPartPath)?id=\(id)&part=\(index)&encoding=zstd"
        let body = try await get(path, type: WireHTTP.partType)
        do {
            return try PayloadEncoding.zstd.decompress(body, limit: size, limits: limits, expected: size)
        } catch {
            throw SyncError(wrapping: error)
        }
    }
}

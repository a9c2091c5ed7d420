import Journal

extension LocalTransport: SnapshotSource {
    /// As ``SnapshotSource/snapshot()``, by a call of ``Endpoint/snapshot()``.
    ///
    /// - Throws: ``SyncError``: as that, and for errors of the file.
    public func snapshot() async throws -> SnapshotAnswer {
        try await SyncError.wrapping { try await endpoint.snapshot() }
    }

    /// As ``SnapshotSource/part(_:of:size:)``, by a call of ``Endpoint/part(_:of:encoding:)``.
    ///
    /// - Throws: ``SyncError``: as that, and for errors of the file.
    public func part(_ index: Int, of id: String, size: Int) async throws -> [UInt8] {
        try await SyncError.wrapping { try await endpoint.part(index, of: id, encoding: .none) }
    }
}

extension Endpoint {
    /// Answers with the newest snapshot, or begins one.
    ///
    /// - Throws: ``SyncError``: `forbidden` when this replica is a leaf; `storage` when the copy cannot be written;
    ///   errors of the file.
    public func snapshot() async throws -> SnapshotAnswer { try await snapshot(of: snapshots) }

    func snapshot(of keeper: SnapshotKeeper) async throws -> SnapshotAnswer {
        try LeafScope.checkServes(try await blocking { [replica] in try replica.identity() })
        return try await keeper.answer()
    }

    /// Returns a part of a snapshot, compressed as `encoding` says.
    ///
    /// - Throws: ``SyncError``: `notFound` for a snapshot that is gone and a part that it does not have;
    ///   `storage` when the copy cannot be read.
    public func part(_ index: Int, of id: String, encoding: PayloadEncoding) async throws -> [UInt8] {
        try await part(index, of: id, encoding: encoding, from: snapshots)
    }

    func part(
        _ index: Int, of id: String, encoding: PayloadEncoding, from keeper: SnapshotKeeper
    ) async throws -> [UInt8] {
        let bytes = try await keeper.part(index, of: id)
        guard encoding != .none else { return bytes }
        return try await blocking {
            do {
                return try encoding.compress(bytes, isFast: true)
            } catch {
                throw SyncError(wrapping: error)
            }
        }
    }
}

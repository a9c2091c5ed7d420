/// What a store turned out to be able to do, when it was asked with two small objects.
package struct StoreAbilities: Sendable, Hashable {
    /// True when of two attempts to create one key, the second is refused. Without it, a writer takes a new stream at
    /// each start, so that it never writes to a key that another one may have.
    package var createsOnce: Bool

    package init(createsOnce: Bool) { self.createsOnce = createsOnce }

    /// Asks a store.
    ///
    /// - Parameter key: A key that nobody else uses; its object is removed afterwards.
    /// - Throws: ``SyncError`` when the store cannot be written to or read, or does not give back what was written.
    package static func probe(_ store: any ObjectStore, key: String) async throws -> StoreAbilities {
        let first = Array("tandem probe 1".utf8)
        let second = Array("tandem probe 2".utf8)
        _ = try await store.create(key, first)
        let isRefused = try await !store.create(key, second)
        let found = try await store.get(key)
        try? await store.delete(key)
        guard found == (isRefused ? first : second) else {
            throw SyncError(
                .failed, "\(store.name) does not give back what was written to it",
                hint: "Tandem needs a store in which an object that was written is read from then on.")
        }
        return StoreAbilities(createsOnce: isRefused)
    }
}

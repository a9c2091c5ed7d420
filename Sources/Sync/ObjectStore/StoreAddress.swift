/// Where an object store is.
public enum StoreAddress: Sendable, Hashable {
    /// A directory: `file:///path`.
    case directory(String)

    /// - Parameter address: With its scheme.
    /// - Returns: nil for an address of another scheme.
    /// - Throws: ``SyncError/Code/configuration`` for an address that cannot be used.
    init?(_ address: String) throws(SyncError) {
        guard address.hasPrefix("file://") else { return nil }
        let path = address.dropFirst("file://".count)
        guard path.hasPrefix("/"), path.count > 1, !path.utf8.contains(0) else {
            throw SyncError(
                .configuration, "The archive's address \(address) names no directory",
                hint: "Write the path with its leading slash: file:///mnt/backup/shop.")
        }
        self = .directory(String(path.last == "/" ? path.dropLast() : path))
    }

    /// The address, for messages; holds no secret.
    var name: String {
        switch self {
        case .directory(let path): "file://" + path
        }
    }

    /// Opens the store. Nothing is asked of it yet.
    package func open() throws(SyncError) -> any ObjectStore {
        switch self {
        case .directory(let path): DirectoryStore(path)
        }
    }
}

import Foundation

/// Where an object store is.
public enum StoreAddress: Sendable, Hashable {
    /// A directory: `file:///path`.
    case directory(String)
    /// A bucket of an S3 server: `s3://bucket/prefix`.
    case s3(S3Address)

    /// - Parameters:
    ///   - address: With its scheme.
    ///   - environment: The variables of the process, of which S3 uses some.
    /// - Returns: nil for an address of another scheme.
    /// - Throws: ``SyncError/Code/configuration`` for an address that cannot be used.
    init?(_ address: String, environment: [String: String]) throws(SyncError) {
        guard !address.hasPrefix("s3://") else {
            self = .s3(try S3Address(address, environment: environment))
            return
        }
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
        case .s3(let address): address.name
        }
    }

    /// Opens the store. Nothing is asked of it yet.
    ///
    /// - Parameters:
    ///   - tls: The authorities to trust for an S3 server; a certificate is not used.
    ///   - bytesPerSecond: The most bytes a second, each way, of each request to an S3 server; nil for no bound.
    ///   - environment: The variables of the process: where the credentials of S3 are.
    /// - Throws: ``SyncError/Code/configuration`` without credentials.
    package func open(
        tls: TLSFiles = TLSFiles(), bytesPerSecond: Int? = nil, limits: Limits = .standard,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(SyncError) -> any ObjectStore {
        switch self {
        case .directory(let path): DirectoryStore(path)
        case .s3(let address):
            try S3Store(
                address, credentials: S3CredentialSource(environment: environment), tls: tls,
                bytesPerSecond: bytesPerSecond, limits: limits)
        }
    }
}

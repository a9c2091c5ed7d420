import Journal

/// Bytes of a database and of its write-ahead log; 0 for a file that does not exist.
struct FileSizes: Sendable {
    let file: Int64
    let log: Int64

    init(path: String, files: any FileSystem = SystemFiles()) {
        // A symbolic link has a size of its own, and no log beside it.
        let path = files.resolved(path)
        let size = { (path: String) -> Int64 in
            guard let status = try? files.status(of: path) else { return 0 }
            return status.size
        }
        file = size(path)
        log = size(path + "-wal")
    }
}

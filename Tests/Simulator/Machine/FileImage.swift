import Foundation

/// The files of a replica as a disk holds them at one moment; what lives in shared memory only is not among them.
struct FileImage {
    private static let suffixes = ["", "-wal", "-identity"]
    private let contents: [Data?]

    init(of path: String) {
        contents = FileImage.suffixes.map { FileManager.default.contents(atPath: path + $0) }
    }

    /// Makes the files at `path` what they were, under the same inodes. Nobody may have them open.
    ///
    /// - Parameter keepsRecord: True to leave the record beside the database as it is now.
    func write(to path: String, keepsRecord: Bool = false) throws {
        try? FileManager.default.removeItem(atPath: path + "-shm")
        for (suffix, content) in zip(FileImage.suffixes, contents) {
            if suffix == "-identity", keepsRecord { continue }
            guard let content else {
                try? FileManager.default.removeItem(atPath: path + suffix)
                continue
            }
            guard let handle = FileHandle(forWritingAtPath: path + suffix) else {
                try content.write(to: URL(fileURLWithPath: path + suffix))
                continue
            }
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: content)
            try handle.close()
        }
    }

    /// Deletes what stands at `path` and puts new files there.
    func replace(_ path: String, keepsRecord: Bool) throws {
        for suffix in FileImage.suffixes + ["-shm"] where !(suffix == "-identity" && keepsRecord) {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
        try write(to: path, keepsRecord: keepsRecord)
    }
}

import Foundation

/// A directory of its own for one test. It is removed with its content when the value is released.
package final class TemporaryDirectory: Sendable {
    package let path: String

    /// - Parameter isInMemory: True for files that need no disk, where the system has such a directory.
    package init(inMemory isInMemory: Bool = false) {
        let memory = "/dev/shm"
        let usesMemory = isInMemory && FileManager.default.isWritableFile(atPath: memory)
        let parent = usesMemory ? URL(fileURLWithPath: memory) : FileManager.default.temporaryDirectory
        path = parent.appendingPathComponent("tandem-\(UUID().uuidString)").path
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    package func file(_ name: String) -> String { path + "/" + name }
}

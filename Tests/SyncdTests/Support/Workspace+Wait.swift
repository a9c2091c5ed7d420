import Journal

extension Workspace {
    /// Waits until a condition holds. Changes of the file wake it, and the suite's limit ends it.
    func wait(for path: String, _ condition: () async throws -> Bool) async throws {
        let watch = try FileWatch(path: path)
        defer { watch.stop() }
        let changes = watch.changes
        if try await condition() { return }
        for await _ in changes {
            if try await condition() { return }
        }
    }
}

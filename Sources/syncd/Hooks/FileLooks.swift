import Journal

/// Asks for looks at a file: after each change of it, and at each tick.
struct FileLooks: Sendable {
    /// What writes nothing to the file is seen so often.
    static let tick: Duration = .seconds(10)

    private let path: String
    private let isNeeded: @Sendable () -> Bool

    /// - Parameter isNeeded: False while nobody looks. A watch of the file costs the programs that write it, so
    ///   there is none then.
    init(_ path: String, isNeeded: @escaping @Sendable () -> Bool) {
        self.path = path
        self.isNeeded = isNeeded
    }

    /// Calls `look` until the task is cancelled.
    func run(_ look: @escaping @Sendable () -> Void) async {
        while !Task.isCancelled {
            let wasNeeded = isNeeded()
            // Without a watch, when the system's limit is reached, the ticks are left.
            let watch = wasNeeded ? try? FileWatch(path: path) : nil
            await withDiscardingTaskGroup { group in
                if let watch { group.addTask { for await _ in watch.changes { look() } } }
                // Until a reload changes whether somebody looks.
                while isNeeded() == wasNeeded, (try? await Task.sleep(for: FileLooks.tick)) != nil { look() }
                group.cancelAll()
            }
            watch?.stop()
        }
    }
}

import Synchronization

/// Tells that some process may have committed to a SQLite file.
///
/// Watches the file and its write-ahead log with inotify, so an idle file costs no wake-up. SQLite writes the log before it
/// publishes the commit in shared memory, which no watch can see; so each burst of writes is followed by a few more signals
/// at growing distances (``echoes``). A signal is a hint: the receiver compares `PRAGMA data_version` or the journal's last
/// position, and finds nothing new after a spurious one.
public final class FileWatch: Sendable {
    /// How long after the last write further signals follow, in milliseconds.
    static let echoes: [Int32] = [1, 3, 10, 30, 100, 300]

    private struct State {
        var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextListener = 0
        var isStopped = false
    }

    private let state: Mutex<State>
    private let registration: InotifyHub.Registration

    /// Starts watching.
    ///
    /// - Parameter path: The database; its directory must exist. A symbolic link is followed: the log is beside the file itself.
    /// - Throws: ``JournalError`` when the system's limit of watches is reached.
    public init(path: String) throws {
        let path = SystemFiles().resolved(path)
        let slash = path.lastIndex(of: "/")
        let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        state = Mutex(State())
        registration = InotifyHub.Registration()
        try InotifyHub.shared.add(registration, directory: directory, names: [name, name + "-wal"]) { [weak self] in
            self?.signal()
        }
    }

    deinit { stop() }

    /// A new stream of signals. It keeps one pending signal at most, and ends with ``stop()``.
    public var changes: AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let id: Int? = state.withLock { state in
                guard !state.isStopped else { return nil }
                state.nextListener += 1
                state.listeners[state.nextListener] = continuation
                return state.nextListener
            }
            guard let id else {
                continuation.finish()
                return
            }
            continuation.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.listeners.removeValue(forKey: id) }
            }
        }
    }

    /// Signals by hand, for a writer that knows better than inotify: in the same process, right after a commit.
    public func signal() {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners { listener.yield() }
    }

    /// Ends every stream and the watching. Further calls do nothing.
    public func stop() {
        let listeners: [AsyncStream<Void>.Continuation]? = state.withLock { state in
            guard !state.isStopped else { return nil }
            state.isStopped = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        guard let listeners else { return }
        for listener in listeners { listener.finish() }
        InotifyHub.shared.remove(registration)
    }
}

import Synchronization

/// Signals that some process may have committed to a SQLite file.
///
/// It watches the file and its write-ahead log with inotify, so an idle file causes no wake-ups. SQLite
/// writes the log before it publishes the commit in shared memory, which inotify cannot watch. So a few more
/// signals at growing intervals (`echoes`) follow each burst of writes. A signal is a hint: the receiver
/// compares `PRAGMA data_version` or the journal's last position, and finds nothing new after a spurious
/// signal.
public final class FileWatch: Sendable {
    /// The delays of the further signals, in milliseconds, each counted from the signal before.
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
    /// - Parameter path: The database. Its directory must exist. A symbolic link is followed, because the log
    ///   is next to the file itself.
    /// - Throws: ``JournalError/Code/invalid`` when the directory does not exist or a limit of the system is
    ///   reached.
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

    /// A new stream of signals. It keeps at most one pending signal, and ends with ``stop()``.
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

    /// Sends a signal at once. A writer in the same process calls it right after its commit, without waiting
    /// for inotify.
    public func signal() {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners { listener.yield() }
    }

    /// Ends every stream and stops watching. Further calls do nothing.
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

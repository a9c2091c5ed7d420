import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

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
    /// The writing end of the pipe that wakes the thread up for its end.
    private let stopSignal: Int32

    /// Starts watching.
    ///
    /// - Parameter path: The database; its directory must exist.
    /// - Throws: ``JournalError`` when the system's limit of watches is reached.
    public init(path: String) throws {
        let notifier = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        var wakeup: [Int32] = [-1, -1]
        let hasPipe = pipe(&wakeup) == 0 && wakeup.allSatisfy { fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }
        let slash = path.lastIndex(of: "/")
        let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        let events = UInt32(IN_MODIFY) | UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE)
        guard notifier >= 0, hasPipe, inotify_add_watch(notifier, directory, events) >= 0 else {
            let reason = String(cString: strerror(errno))
            if notifier >= 0 { close(notifier) }
            if hasPipe { wakeup.forEach { close($0) } }
            throw JournalError(
                .invalid, "watching \(directory) failed: \(reason)",
                hint: "Raise fs.inotify.max_user_instances and max_user_watches.")
        }
        state = Mutex(State())
        stopSignal = wakeup[1]
        let thread = WatchThread(notifier: notifier, wakeup: wakeup[0], names: [name, name + "-wal"]) { [weak self] in
            self?.signal()
        }
        thread.start()
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

    /// Ends every stream and the watching thread. Further calls do nothing.
    public func stop() {
        let listeners: [AsyncStream<Void>.Continuation]? = state.withLock { state in
            guard !state.isStopped else { return nil }
            state.isStopped = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        guard let listeners else { return }
        for listener in listeners { listener.finish() }
        // The thread sees the other end hang up, and closes its descriptors.
        close(stopSignal)
    }
}

/// The thread that blocks in `poll`. It owns the two descriptors from `start` on.
private final class WatchThread: Sendable {
    private let notifier: Int32
    private let wakeup: Int32
    private let names: Set<String>
    private let signal: @Sendable () -> Void

    init(notifier: Int32, wakeup: Int32, names: Set<String>, signal: @escaping @Sendable () -> Void) {
        self.notifier = notifier
        self.wakeup = wakeup
        self.names = names
        self.signal = signal
    }

    func start() {
        let argument = Unmanaged.passRetained(self).toOpaque()
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<WatchThread>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, argument)
        if code == 0 { pthread_detach(thread) } else { Unmanaged<WatchThread>.fromOpaque(argument).release() }
    }

    private func run() {
        defer {
            close(notifier)
            close(wakeup)
        }
        var echo = FileWatch.echoes.count
        while true {
            var descriptors = [
                pollfd(fd: notifier, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wakeup, events: Int16(POLLIN), revents: 0),
            ]
            let timeout = echo < FileWatch.echoes.count ? FileWatch.echoes[echo] : -1
            let ready = poll(&descriptors, 2, timeout)
            if ready < 0, errno != EINTR { return }
            if descriptors[1].revents != 0 { return }
            if descriptors[0].revents != 0 {
                if drain() {
                    echo = 0
                    signal()
                }
            } else if ready == 0 {
                echo += 1
                signal()
            }
        }
    }

    /// Reads all pending events; true when one of them names the database or its log.
    private func drain() -> Bool {
        var isRelevant = false
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let headerSize = MemoryLayout<inotify_event>.size
        while true {
            let count = read(notifier, &buffer, buffer.count)
            guard count > 0 else { return isRelevant }
            buffer.withUnsafeBytes { bytes in
                var offset = 0
                while offset + headerSize <= count {
                    let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    let nameStart = offset + headerSize
                    let nameEnd = min(nameStart + Int(event.len), count)
                    let name = String(decoding: bytes[nameStart..<nameEnd].prefix { $0 != 0 }, as: UTF8.self)
                    // A full queue drops names; then anything may have changed.
                    if names.contains(name) || event.mask & UInt32(IN_Q_OVERFLOW) != 0 { isRelevant = true }
                    offset = nameEnd
                }
            }
        }
    }
}

import GRDB
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// The process's single inotify instance, and the thread that reads it.
///
/// All watches share it, because a user may have only 128 instances by default
/// (`fs.inotify.max_user_instances`, inotify(7)), and a process may have more databases open than that.
/// Databases in one directory share one watch.
final class InotifyHub: Sendable {
    static let shared = InotifyHub()

    /// Identifies one watched file.
    final class Registration: Sendable, Hashable {
        static func == (a: Registration, b: Registration) -> Bool { a === b }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    private struct Target {
        let watch: Int32
        let names: Set<String>
        let signal: @Sendable () -> Void
        /// The index of the next echo in ``FileWatch/echoes``, which is due at ``due`` milliseconds of the
        /// monotonic clock.
        var echo = FileWatch.echoes.count
        var due: Int64 = 0
    }

    private struct State {
        var notifier: Int32 = -1
        var targets: [Registration: Target] = [:]
    }

    private let state = Mutex(State())

    /// - Throws: ``JournalError/Code/invalid`` when a limit of the system is reached, and when the directory
    ///   does not exist.
    func add(
        _ registration: Registration, directory: String, names: Set<String>, signal: @escaping @Sendable () -> Void
    ) throws {
        try state.withLock { state in
            if state.notifier < 0 { state.notifier = try InotifyHub.start(self) }
            let events = [IN_MODIFY, IN_CREATE, IN_MOVED_TO, IN_MOVED_FROM, IN_DELETE, IN_MOVE_SELF]
                .reduce(UInt32(0)) { $0 | UInt32($1) }
            // inotify returns the same watch for the same directory.
            let watch = inotify_add_watch(state.notifier, directory, events)
            guard watch >= 0 else { throw InotifyHub.failure("Watching \(directory)", code: errno) }
            state.targets[registration] = Target(watch: watch, names: names, signal: signal)
        }
    }

    func remove(_ registration: Registration) {
        state.withLock { state in
            guard let target = state.targets.removeValue(forKey: registration) else { return }
            if !state.targets.values.contains(where: { $0.watch == target.watch }) {
                inotify_rm_watch(state.notifier, target.watch)
            }
        }
    }

    // MARK: - The thread

    private static func start(_ hub: InotifyHub) throws -> Int32 {
        let notifier = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard notifier >= 0 else { throw failure("Watching files", code: errno) }
        final class Start {
            let hub: InotifyHub
            let notifier: Int32
            init(_ hub: InotifyHub, _ notifier: Int32) {
                self.hub = hub
                self.notifier = notifier
            }
        }
        let argument = Unmanaged.passRetained(Start(hub, notifier)).toOpaque()
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                start.hub.run(start.notifier)
                return nil
            }, argument)
        guard code == 0 else {
            Unmanaged<Start>.fromOpaque(argument).release()
            close(notifier)
            throw failure("Starting a thread to watch files", code: code)
        }
        pthread_detach(thread)
        return notifier
    }

    /// - Parameter code: The `errno` of inotify_init(2), inotify_add_watch(2) or pthread_create(3).
    static func failure(_ operation: String, code: Int32) -> JournalError {
        let hint: String? =
            switch code {
            case EMFILE: "Raise fs.inotify.max_user_instances, and the limit of descriptors (ulimit -n)."
            case ENOSPC: "Raise fs.inotify.max_user_watches."
            case ENOMEM: SQLiteFailure(.SQLITE_NOMEM).hint
            case EAGAIN: "The limit of threads is reached; raise it (ulimit -u)."
            default: nil
            }
        return JournalError(.invalid, "\(operation) failed: \(String(cString: strerror(code)))", hint: hint)
    }

    private func run(_ notifier: Int32) {
        var inARow = 0
        var last = InotifyHub.now()
        while true {
            var descriptor = pollfd(fd: notifier, events: Int16(POLLIN), revents: 0)
            _ = poll(&descriptor, 1, timeout())
            let changed = descriptor.revents != 0 ? drain(notifier) : Changed()
            for signal in due(changed) { signal() }
            guard descriptor.revents != 0 else { continue }
            let now = InotifyHub.now()
            inARow = now - last < InotifyHub.pauseMilliseconds ? inARow + 1 : 0
            // A program that writes without a pause makes thousands of events a second. While this thread
            // sleeps, the kernel makes one of those that are equal.
            if inARow >= InotifyHub.eventsWithoutPause { usleep(UInt32(InotifyHub.pauseMilliseconds) * 1_000) }
            last = InotifyHub.now()
        }
    }

    private static let eventsWithoutPause = 16
    private static let pauseMilliseconds: Int64 = 5

    /// The milliseconds until the next echo; -1 when none is due.
    private func timeout() -> Int32 {
        let next = state.withLock { state in
            state.targets.values.lazy.filter { $0.echo < FileWatch.echoes.count }.map(\.due).min()
        }
        return next.map { Int32(clamping: max(0, $0 - InotifyHub.now())) } ?? -1
    }

    /// Returns the signals to send: for files that changed, and for echoes of earlier changes.
    private func due(_ changed: Changed) -> [@Sendable () -> Void] {
        let now = InotifyHub.now()
        return state.withLock { state in
            var signals: [@Sendable () -> Void] = []
            for (registration, var target) in state.targets {
                if changed.contains(target.watch, target.names) {
                    target.echo = 0
                } else if target.echo < FileWatch.echoes.count, target.due <= now {
                    target.echo += 1
                } else {
                    continue
                }
                if target.echo < FileWatch.echoes.count { target.due = now + Int64(FileWatch.echoes[target.echo]) }
                state.targets[registration] = target
                signals.append(target.signal)
            }
            return signals
        }
    }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    // MARK: - Events

    private struct Changed {
        var names: [Int32: Set<String>] = [:]
        /// True when the event queue overflowed and dropped names. Any file may have changed then.
        var isAnything = false

        /// An event of the directory itself has no name, and concerns every file in it.
        func contains(_ watch: Int32, _ names: Set<String>) -> Bool {
            guard !isAnything else { return true }
            guard let changed = self.names[watch] else { return false }
            return changed.contains("") || !changed.isDisjoint(with: names)
        }
    }

    /// Reads all pending events.
    private func drain(_ notifier: Int32) -> Changed {
        var changed = Changed()
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let headerSize = MemoryLayout<inotify_event>.size
        while true {
            let count = read(notifier, &buffer, buffer.count)
            guard count > 0 else { return changed }
            buffer.withUnsafeBytes { bytes in
                var offset = 0
                while offset + headerSize <= count {
                    let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    let nameStart = offset + headerSize
                    let nameEnd = min(nameStart + Int(event.len), count)
                    let name = String(decoding: bytes[nameStart..<nameEnd].prefix { $0 != 0 }, as: UTF8.self)
                    if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { changed.isAnything = true }
                    changed.names[event.wd, default: []].insert(name)
                    offset = nameEnd
                }
            }
        }
    }
}

/// Signals to the daemon of a machine, a little later, that the file may have changed, as the file monitor
/// does.
///
/// Unchecked: see ``Scheduler``.
final class FileSignals: @unchecked Sendable {
    private let scheduler: Scheduler
    private var listeners: [(id: Int, continuation: AsyncStream<Void>.Continuation)] = []
    private var last = 0
    private var isPending = false

    init(_ scheduler: Scheduler) { self.scheduler = scheduler }

    var changes: AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            last += 1
            let id = last
            listeners.append((id, continuation))
            continuation.onTermination = { [weak self] _ in self?.listeners.removeAll { $0.id == id } }
        }
    }

    /// Signals a commit to the file.
    func signal() {
        guard !isPending else { return }
        isPending = true
        scheduler.after(1) { [self] in
            isPending = false
            for listener in listeners { listener.continuation.yield() }
        }
    }

    /// Ends the streams of a process that died.
    func drop() {
        for listener in listeners { listener.continuation.finish() }
        listeners = []
    }
}

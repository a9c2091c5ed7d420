/// Runs all tasks of one process on the scenario's thread, when the scheduler says so.
///
/// Unchecked: see ``Scheduler``.
final class ProcessExecutor: TaskExecutor, @unchecked Sendable {
    private let scheduler: Scheduler
    /// Called around each piece of work.
    let willRun: () -> Void
    let didRun: () -> Void

    init(_ scheduler: Scheduler, willRun: @escaping () -> Void, didRun: @escaping () -> Void) {
        self.scheduler = scheduler
        self.willRun = willRun
        self.didRun = didRun
    }

    func enqueue(_ job: consuming ExecutorJob) { scheduler.enqueue(UnownedJob(job), on: self) }
}

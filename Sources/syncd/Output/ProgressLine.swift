import Foundation

/// A line on standard error that shows the progress of long work. It is rewritten twice a second, and removed
/// at the end. It appears on a terminal only: in a file or a pipe it would be noise.
enum ProgressLine {
    /// The time before the line first appears.
    static let patience: Duration = .seconds(1)
    private static let interval: Duration = .milliseconds(500)

    /// Columns of the line. A line that the terminal wraps could not be overwritten.
    static let width = 79

    /// Runs `work`, which must not block the thread of its task.
    ///
    /// - Parameters:
    ///   - title: What is being done: "Exchanging with http://b:7707".
    ///   - detail: The progress in a few words; called for each rewrite.
    static func during<T>(
        _ title: String, detail: @escaping @Sendable () async -> String, work: () async throws -> T
    ) async throws -> T {
        guard isatty(STDERR_FILENO) == 1 else { return try await work() }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await ProgressLine.show(title, detail) }
            // The group waits until the line is removed, whether the work succeeds or fails.
            defer { group.cancelAll() }
            return try await work()
        }
    }

    /// Rewrites the line until the task is cancelled.
    private static func show(_ title: String, _ detail: @Sendable () async -> String) async {
        let start = ContinuousClock.now
        var isShown = false
        do {
            try await Task.sleep(for: patience)
            while true {
                let progress = await detail()
                let time = ContinuousClock.now - start
                Console.overwrite(text(title, progress, seconds: time.components.seconds))
                isShown = true
                try await Task.sleep(for: interval)
            }
        } catch {
            if isShown { Console.overwrite("") }
        }
    }

    /// `Exchanging with http://b:7707: 3 503 changes received, 12 s`. The title is cut when the line would be
    /// too long.
    static func text(_ title: String, _ detail: String, seconds: Int64) -> String {
        let end = ConsoleText.printable(": \(detail), \(ConsoleText.duration(seconds * 1_000))")
        var start = ConsoleText.printable(title)
        let room = max(width - end.count, 1)
        if start.count > room { start = String(start.prefix(room - 1)) + "…" }
        return String((start + end).prefix(width))
    }
}

import Foundation

/// A line on standard error that tells a person how far work is that takes long. It is written anew twice a second, and taken away at the
/// end. Only a terminal gets it: in a file or a pipe it would be noise.
enum ProgressLine {
    /// How long work may take without a word.
    static let patience: Duration = .seconds(1)
    private static let interval: Duration = .milliseconds(500)

    /// A line that the terminal breaks in two could not be written anew.
    static let width = 79

    /// Runs `work`, which must not block the thread of its task.
    ///
    /// - Parameters:
    ///   - title: What is done: "Exchanging with http://b:7707".
    ///   - detail: How far it is, in a few words; asked for each time.
    static func during<T>(
        _ title: String, detail: @escaping @Sendable () async -> String, work: () async throws -> T
    ) async throws -> T {
        guard isatty(STDERR_FILENO) == 1 else { return try await work() }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await ProgressLine.show(title, detail) }
            // Whether the work succeeds or fails, the group waits until the line is gone.
            defer { group.cancelAll() }
            return try await work()
        }
    }

    /// Until the task is cancelled.
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

    /// `Exchanging with http://b:7707: 3 503 changes received, 12 s`, with as much of the title as there is room for.
    static func text(_ title: String, _ detail: String, seconds: Int64) -> String {
        let end = ConsoleText.printable(": \(detail), \(ConsoleText.duration(seconds * 1_000))")
        var start = ConsoleText.printable(title)
        let room = max(width - end.count, 1)
        if start.count > room { start = String(start.prefix(room - 1)) + "…" }
        return String((start + end).prefix(width))
    }
}

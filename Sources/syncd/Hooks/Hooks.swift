import Foundation
import Journal
import Logging
import ServiceLifecycle
import Sync
import Synchronization

/// Runs the commands of the configuration when a conflict, a held row or a mismatch comes. A hook is told what
/// is new since the daemon began to look; each runs once at a time, and what comes meanwhile is told once.
final class Hooks: Service {
    /// The seconds after which a command is killed.
    static let limit: TimeInterval = 60
    /// The least time from one look at the file to the next.
    static let pause: Duration = .seconds(1)

    private let reports: ReportSource
    private let commands: @Sendable () -> [HookKind: String]
    private let limit: TimeInterval
    private let logger: Logger
    /// nil while there is no hook: nothing is looked at then.
    private let memory: Mutex<HookMemory?>

    /// Remembers what there is already.
    ///
    /// - Parameters:
    ///   - reports: Says what the daemon knows.
    ///   - limit: The seconds after which a command is killed.
    ///   - commands: Returns the commands of this moment.
    /// - Throws: ``JournalError`` when the file cannot be read.
    init(
        _ reports: ReportSource, limit: TimeInterval = Hooks.limit, logger: Logger,
        commands: @escaping @Sendable () -> [HookKind: String]
    ) async throws {
        self.reports = reports
        self.commands = commands
        self.limit = limit
        self.logger = logger
        memory = Mutex(commands().isEmpty ? nil : HookMemory(try await Hooks.situation(reports).now))
    }

    private static func situation(_ reports: ReportSource) async throws -> (now: HookSituation, report: StatusReport) {
        let report = try await reports.report(countingRows: false)
        let now = try await blocking { [replica = reports.replica] in
            try replica.read { try HookSituation(report, $0) }
        }
        return (now, report)
    }

    func run() async throws {
        let (looks, wanted) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    await FileLooks(self.reports.replica.path) { !self.commands().isEmpty }.run { wanted.yield() }
                }
                let busy = BusyHooks()
                for await _ in looks {
                    for (kind, command, line) in await self.news(except: busy.kinds) {
                        busy.begin(kind)
                        group.addTask {
                            await self.run(kind, command, line)
                            busy.end(kind)
                            // What came meanwhile has not been told.
                            wanted.yield()
                        }
                    }
                    try? await Task.sleep(for: Hooks.pause)
                }
                group.cancelAll()
            }
        }
        // A service that returns ends the daemon.
        try? await gracefulShutdown()
    }

    /// What has to be told, and to which command.
    private func news(except busy: Set<HookKind>) async -> [(HookKind, String, HookLine)] {
        let commands = commands()
        guard !commands.isEmpty else {
            memory.withLock { $0 = nil }
            return []
        }
        // A file that cannot be read now is looked at again at the next tick. The log says so.
        guard let (now, report) = try? await Hooks.situation(reports) else { return [] }
        let (known, kinds) = memory.withLock { memory -> (Int64, [HookKind]) in
            var current = memory ?? HookMemory(now)
            let known = current.newestConflict
            // A kind without a command moves on, so that a command of a later reload is not told of old things.
            let kinds = HookKind.allCases.filter { !busy.contains($0) && current.isNews($0, now) }
            memory = current
            return (known, kinds)
        }
        var conflicts: [ConflictEntry] = []
        if kinds.contains(.conflict), commands[.conflict] != nil {
            conflicts = (try? await newConflicts(after: known)) ?? []
        }
        return kinds.compactMap { kind in
            commands[kind].map { (kind, $0, HookLine(kind, now, conflicts: conflicts, report, time: Date())) }
        }
    }

    private func newConflicts(after known: Int64) async throws -> [ConflictEntry] {
        try await blocking { [replica = reports.replica] in
            try replica.read { db in
                var entries: [ConflictEntry] = []
                var filter = ConflictFilter()
                filter.after = known
                try ConflictLedger(db).forEach(filter) { entry in
                    entries.append(entry)
                    return entries.count <= HookLine.most
                }
                return entries
            }
        }
    }

    private func run(_ kind: HookKind, _ command: String, _ line: HookLine) async {
        let name = kind.key.rawValue
        let hook: Logger.Metadata = ["hook": "\(name)"]
        let outcome = await HookCommand(command, input: line.text, limit: limit) { [logger] text in
            logger.log(.hookOutput, "\(name): \(ConsoleText.printable(text))", hook)
        }.run()
        switch outcome {
        case .exited(0): logger.log(.hookDone, "\(name) has run", hook)
        case .exited(let status): logger.log(.hookFailed, "\(name) ended with status \(status)", hook)
        case .timedOut: logger.log(.hookFailed, "\(name) took longer than \(Int(limit)) s and was killed", hook)
        case .cancelled: logger.log(.hookFailed, "\(name) was killed because the daemon stops", hook)
        case .failed(let reason): logger.log(.hookFailed, "\(name) cannot be run: \(reason)", hook)
        }
    }
}

/// The hooks that run at the moment.
private final class BusyHooks: Sendable {
    private let state = Mutex<Set<HookKind>>([])

    var kinds: Set<HookKind> { state.withLock { $0 } }
    func begin(_ kind: HookKind) { state.withLock { _ = $0.insert(kind) } }
    func end(_ kind: HookKind) { state.withLock { _ = $0.remove(kind) } }
}

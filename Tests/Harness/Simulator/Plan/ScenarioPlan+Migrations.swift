import Journal
import MergeModel
import TestSupport

extension ScenarioPlan {
    /// Uses a stream of its own, so that scenarios without such migrations do not change.
    static func kindsOfMigrations(_ streams: Streams) -> Set<FaultKind> {
        var random = streams.stream(.migrations)
        return random.chance(35) ? [.markedMigration] : []
    }

    /// One migration of rows that are there, on most machines, each at a time of its own; on some of them again.
    static func markedMigrations(
        _ count: Int, _ schema: HistorySchema, _ duration: Int64, _ streams: Streams
    ) -> [Step] {
        var random = streams.stream(.migrations, 1)
        let statements = (0...random.below(2)).map { _ in HistoryStatement.migration(of: schema.reference, &random) }
        let marked = [MigrationMarks.begin.replacing("?", with: "'prices'")] + statements + [MigrationMarks.end]
        return (0..<count).flatMap { machine in
            (0..<random.pick([0, 1, 1, 1, 2])).map { _ in
                Step(
                    time: Int64(random.below(Int(duration))),
                    action: .write(machine: machine, marked, tokens: 1, isMarked: true, crashes: false))
            }
        }
    }
}

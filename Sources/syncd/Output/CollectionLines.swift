import Journal
import Sync
import Synchronization

// What `syncd store collect` prints.

extension ArchiveCollector.Report {
    func lines(isDryRun: Bool) -> [String] {
        let would = isDryRun ? "would be " : ""
        var lines = [
            "removed  \(would)\(ConsoleText.count(Int64(removedPacks), "pack")), "
                + "\(ConsoleText.count(Int64(removedSnapshots), "snapshot")), \(ConsoleText.count(removedBytes, "byte"))",
            "marked   \(would)\(ConsoleText.count(Int64(markedPacks), "pack")), "
                + "\(ConsoleText.count(Int64(markedSnapshots), "snapshot")), \(ConsoleText.count(markedBytes, "byte"))",
        ]
        if waitingMarks > 0, let nextMilliseconds {
            lines.append(
                "waiting  \(ConsoleText.count(Int64(waitingMarks), "marked object")), "
                    + "from \(ConsoleText.time(milliseconds: nextMilliseconds)) on")
        }
        lines += obstacles.map { "stays    \(ConsoleText.printable($0))" }
        if isDryRun { lines.append("Nothing was changed. With --apply, it is done.") }
        return lines
    }

    func json(isDryRun: Bool) -> JSONValue {
        .object([
            "dry_run": .bool(isDryRun),
            "removed": .object([
                "packs": .integer(Int64(removedPacks)), "snapshots": .integer(Int64(removedSnapshots)),
                "bytes": .integer(removedBytes),
            ]),
            "marked": .object([
                "packs": .integer(Int64(markedPacks)), "snapshots": .integer(Int64(markedSnapshots)),
                "bytes": .integer(markedBytes),
            ]),
            "waiting": .integer(Int64(waitingMarks)),
            "next": nextMilliseconds.map { .string(ConsoleText.time(milliseconds: $0)) } ?? .null,
            "stays": .array(obstacles.map { .string($0) }),
        ])
    }
}

/// How far a collection has come.
final class CollectionMeter: Sendable {
    private let state = Mutex(ArchiveCollector.Report())

    func note(_ report: ArchiveCollector.Report) { state.withLock { $0 = report } }

    var text: String {
        let report = state.withLock { $0 }
        return "\(ConsoleText.count(Int64(report.removedPacks), "pack")) to remove, "
            + "\(ConsoleText.number(Int64(report.markedPacks))) to mark"
    }
}

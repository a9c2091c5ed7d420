import Foundation
import Journal
import Sync
import Synchronization

// What `syncd store` prints.

extension ArchiveSurvey.Summary {
    var lines: [String] {
        var lines = [
            "archive    \(ConsoleText.printable(name))", "cluster    \(ConsoleText.printable(cluster))",
            "replica    \(archive)",
        ]
        if !createsOnce {
            lines.append("store      replaces an object that is created again: each start of a writer begins a stream")
        }
        if vector.entries.count >= ArchiveLimits().crowdedWriters {
            lines.append("writers    \(ConsoleText.number(vector.entries.count)): \(ArchiveLimits.crowdedAdvice)")
        }
        for stream in streams {
            lines.append(
                "stream     \(stream.name) by \(stream.writer.short)  \(ConsoleText.count(stream.packs, "pack")), "
                    + "\(ConsoleText.count(stream.changes, "change")), last \(ConsoleText.time(milliseconds: stream.milliseconds))"
            )
        }
        for snapshot in snapshots {
            lines.append(
                "snapshot   \(snapshot.id)  \(ConsoleText.count(snapshot.bytes, "byte")), "
                    + "made \(ConsoleText.time(milliseconds: snapshot.milliseconds))")
        }
        if snapshots.isEmpty {
            lines.append("snapshot   none: no replica can be made from it yet, see `syncd store snapshot`")
        } else if let first = snapshots.first {
            lines.append(
                "restore    to any time from \(ConsoleText.time(milliseconds: first.milliseconds)) on, by `syncd restore --at`"
            )
        }
        for entry in vector.entries {
            lines.append("holds      \(entry.origin) to \(ConsoleText.number(entry.version))")
        }
        for acknowledgement in acknowledgements {
            lines.append(
                "merged by  \(acknowledgement.origin), \(ConsoleText.time(milliseconds: acknowledgement.milliseconds))")
        }
        return lines + problems.map { "PROBLEM    \(ConsoleText.printable($0))" }
    }

    var json: JSONValue {
        .object([
            "name": .string(name),
            "cluster": .string(cluster),
            "origin": .string(archive.description),
            "creates_once": .bool(createsOnce),
            "streams": .array(
                streams.map { stream in
                    .object([
                        "stream": .string(stream.name), "writer": .string(stream.writer.description),
                        "packs": .integer(stream.packs), "changes": .integer(stream.changes),
                        "time": .string(ConsoleText.time(milliseconds: stream.milliseconds)),
                    ])
                }),
            "snapshots": .array(
                snapshots.map { snapshot in
                    .object([
                        "id": .string(snapshot.id), "bytes": .integer(snapshot.bytes),
                        "changes": .integer(snapshot.changes),
                        "time": .string(ConsoleText.time(milliseconds: snapshot.milliseconds)),
                    ])
                }),
            "vector": .vector(vector),
            "problems": .array(problems.map { .string($0) }),
        ])
    }
}

extension ArchiveSurvey.Verification {
    var lines: [String] {
        problems.map { "PROBLEM  \(ConsoleText.printable($0))" } + [
            "\(problems.isEmpty ? "Whole" : "Not whole"): \(ConsoleText.count(packs, "pack")), "
                + "\(ConsoleText.count(snapshots, "snapshot")), \(ConsoleText.count(bytes, "byte")) read."
        ]
    }

    var json: JSONValue {
        .object([
            "packs": .integer(Int64(packs)), "snapshots": .integer(Int64(snapshots)), "bytes": .integer(bytes),
            "problems": .array(problems.map { .string($0) }),
        ])
    }
}

extension SnapshotManifest {
    /// What `syncd store snapshot` made.
    var json: JSONValue {
        .object(["snapshot": .string(id), "bytes": .integer(bytes), "vector": .vector(vector)])
    }
}

/// How much of an archive was read.
final class SurveyMeter: Sendable {
    private let state = Mutex(ArchiveSurvey.Verification())

    func note(_ found: ArchiveSurvey.Verification) { state.withLock { $0 = found } }

    var text: String {
        let found = state.withLock { $0 }
        return "\(ConsoleText.count(found.packs, "pack")), \(ConsoleText.number(found.bytes / 1_000_000)) MB"
    }
}

/// How much of a snapshot was written.
final class UploadMeter: Sendable {
    private let state = Mutex((done: Int64(0), total: Int64(0)))

    func note(_ done: Int64, _ total: Int64) { state.withLock { $0 = (done, total) } }

    var text: String {
        let (done, total) = state.withLock { $0 }
        return total == 0
            ? "copying the file"
            : "\(ConsoleText.number(done / 1_000_000)) of \(ConsoleText.number(total / 1_000_000)) MB"
    }
}

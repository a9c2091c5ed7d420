import Foundation
import Journal
import Sync

/// The output of `syncd compact`.
struct CompactionLine: Sendable {
    let report: CompactionReport
    let isDryRun: Bool
    /// Bytes of the database.
    let bytesBefore: Int64
    let bytesAfter: Int64
    let hasVacuumed: Bool
    let milliseconds: Int64

    var json: JSONValue {
        .object([
            "dry_run": .bool(isDryRun),
            "entries": .integer(report.entries),
            "stable": .integer(Int64(report.stable)),
            "removable": .integer(Int64(report.removable)),
            "removed": .integer(Int64(report.removed)),
            "cut_short": .bool(report.isCutShort),
            "alone": .bool(report.horizon.isAlone),
            "replicas": .array(report.horizon.members.map(\.json)),
            "bytes_before": .integer(bytesBefore),
            "bytes_after": .integer(bytesAfter),
            "free_bytes": .integer(report.freeBytes),
            "milliseconds": .integer(milliseconds),
        ])
    }

    var text: [String] {
        var lines: [String] = []
        let removable = ConsoleText.number(Int64(isDryRun ? report.removable : report.removed))
        let entries = ConsoleText.count(report.entries, "entry", "entries")
        lines.append(
            isDryRun
                ? "\(removable) of \(entries) of the journal would go."
                : "\(removable) of \(entries) of the journal are gone, in \(ConsoleText.number(milliseconds)) ms.")
        if report.isCutShort {
            lines.append(
                "The schema or the identity of the file changed meanwhile; run the command again for the rest.")
        }
        if !isDryRun {
            lines.append(
                "The file has \(ConsoleText.count(bytesAfter, "byte")), before \(ConsoleText.number(bytesBefore)); "
                    + (hasVacuumed
                        ? "no page is free." : "\(ConsoleText.count(report.freeBytes, "byte")) are free for new rows."))
        }
        for member in report.horizon.holders { lines.append("Waits for \(member.text).") }
        if report.horizon.isAlone {
            lines.append("No other replica is on record, so nothing waits; a new one has to be cloned from this file.")
        }
        return lines
    }
}

extension StableHorizon.Member {
    var json: JSONValue {
        .object([
            "origin": .string(origin.description),
            "standing": .string(standing.rawValue),
            "unconfirmed": .integer(unconfirmed),
            "last_seen": .optional(lastSeenText) { .string($0) },
            "seen_by": .optional(witness) { .string($0.description) },
        ])
    }

    private var lastSeenText: String? {
        lastSeen > 0 ? ConsoleText.time(Date(timeIntervalSince1970: Double(lastSeen) / 1_000)) : nil
    }

    /// `0123…, 12 changes not confirmed, seen 2026-11-21T08:40:19Z by 4567…`
    var text: String {
        ReplicaText(
            origin: origin.description, standing: standing.rawValue, unconfirmed: unconfirmed, lastSeen: lastSeenText,
            witness: witness?.description
        ).text
    }
}

/// A replica that compaction waits for, or not, in words.
struct ReplicaText {
    let origin: String
    let standing: String
    let unconfirmed: Int64
    let lastSeen: String?
    let witness: String?

    var text: String {
        var parts = [origin]
        switch standing {
        case StableHorizon.Standing.silent.rawValue: parts.append("has not said yet what it has")
        case StableHorizon.Standing.expired.rawValue: parts.append("does not count: silent for longer than its lease")
        case StableHorizon.Standing.forgotten.rawValue: parts.append("does not count: forgotten")
        default:
            parts.append(
                unconfirmed == 0
                    ? "has everything" : "\(ConsoleText.count(unconfirmed, "change")) not confirmed")
        }
        if let lastSeen {
            let by = witness.map { " by \(OriginID(hex: $0)?.short ?? ConsoleText.printable($0))" } ?? ""
            parts.append("seen \(lastSeen)\(by)")
        }
        return parts.joined(separator: ", ")
    }
}

import Foundation
import Journal
import Sync

// How an origin whose clock is ahead looks in `syncd clock` and in the status.

extension ClockReport.Origin {
    var json: JSON {
        .object([
            "origin": .string(origin.description),
            "first_version": .optional(hold) { .integer($0.firstVersion) },
            "changes": .integer(heldChanges),
            "ahead_ms": .optional(aheadMilliseconds) { .integer($0) },
            "builds_on": .optional(hold?.cause) { .string($0.description) },
            "since": .optional(since) { .string(ConsoleText.time(Date(timeIntervalSince1970: $0))) },
            "allowed_ms": .integer(allowedMilliseconds),
        ])
    }

    private var heldChanges: Int64 { hold.map { $0.lastVersion - $0.firstVersion + 1 } ?? 0 }

    var text: String {
        var parts = [origin.description]
        if let hold {
            parts.append(
                "\(ConsoleText.count(heldChanges, "change")) held back from version \(ConsoleText.number(hold.firstVersion)) on"
            )
            if let ahead = aheadMilliseconds { parts.append("\(ConsoleText.duration(max(0, ahead))) ahead") }
            if let cause = hold.cause { parts.append("built on changes of \(cause.short)") }
            if let since { parts.append("since \(ConsoleText.time(Date(timeIntervalSince1970: since)))") }
        }
        if allowedMilliseconds > 0 {
            parts.append("accepted up to \(ConsoleText.duration(allowedMilliseconds)) ahead")
        }
        return parts.joined(separator: ", ")
    }
}

/// What `syncd clock accept` and `reset` print of an origin.
struct ClockDecisionLine: Sendable {
    let origin: OriginID
    let action: ClockCommand.Action
    /// How far ahead its changes may be from now on.
    let allowedMilliseconds: Int64

    var json: JSON {
        .object([
            "origin": .string(origin.description),
            "action": .string(action.rawValue),
            "allowed_ms": .integer(allowedMilliseconds),
        ])
    }

    var text: String {
        action == .accept
            ? "Changes of \(origin) are taken from now on; the next exchange brings them."
            : "Forgot what was held back and accepted of \(origin)."
    }
}

/// What `syncd clock repair` prints.
struct ClockRepairLine: Sendable {
    /// Of the replica from now on.
    let origin: OriginID
    /// nil when nothing was to be repaired.
    let outcome: ClockRepair.Outcome?

    var json: JSON {
        .object([
            "origin": .string(origin.description),
            "former_origin": .optional(outcome) { .string($0.old.description) },
            "kept": .optional(outcome) { .integer($0.kept) },
            "reissued": .integer(outcome?.reissued ?? 0),
        ])
    }

    var text: String {
        guard let outcome else { return "Nothing to repair: no change of this replica is ahead of the clock." }
        return """
            \(ConsoleText.count(outcome.reissued, "change")) got the time of now.
            This is replica \(outcome.new) from now on; it was \(outcome.old).
            """
    }
}

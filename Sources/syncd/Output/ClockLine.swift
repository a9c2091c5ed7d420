import Foundation
import Journal
import Sync

// An origin whose clock is ahead, in the output of `syncd clock` and of `syncd status`.

extension ClockReport.Origin {
    var json: JSONValue {
        .object([
            "origin": .string(origin.description),
            "first_version": .optional(hold) { .integer($0.firstVersion) },
            "changes": .integer(heldChanges),
            "ahead_ms": .optional(aheadMilliseconds) { .integer($0) },
            "contradicts_itself": .bool(isContradictory),
            "behind_horizon": .bool(isBehindHorizon),
            "builds_on": .optional(hold?.cause) { .string($0.description) },
            "since": .optional(since) { .string(ConsoleText.time(Date(timeIntervalSince1970: $0))) },
            "allowed_ms": .integer(allowedMilliseconds),
        ])
    }

    private var heldChanges: Int64 { hold.map { $0.lastVersion - $0.firstVersion + 1 } ?? 0 }

    var text: String {
        HeldBackText(
            origin: origin.description, firstVersion: hold?.firstVersion, changes: heldChanges,
            ahead: aheadMilliseconds, isContradictory: isContradictory, isBehindHorizon: isBehindHorizon,
            cause: hold?.cause?.description,
            since: since.map { ConsoleText.time(Date(timeIntervalSince1970: $0)) }, allowed: allowedMilliseconds
        ).text
    }
}

/// An origin whose clock is ahead, in words. Times are in milliseconds.
struct HeldBackText {
    let origin: String
    /// nil when none of its changes is held back.
    let firstVersion: Int64?
    let changes: Int64
    let ahead: Int64?
    /// True when no history can have produced its changes.
    let isContradictory: Bool
    /// True when their writer had not seen what is compacted here.
    let isBehindHorizon: Bool
    /// The origin whose changes the writer had seen.
    let cause: String?
    let since: String?
    let allowed: Int64

    var text: String {
        var parts = [origin]
        if let firstVersion {
            parts.append(
                "\(ConsoleText.count(changes, "change")) held back from version \(ConsoleText.number(firstVersion)) on")
            if let ahead { parts.append("\(ConsoleText.duration(max(0, ahead))) ahead") }
            if isContradictory { parts.append("contradicts itself: falling stamps, or an impossible life") }
            if isBehindHorizon {
                parts.append(
                    "from behind the horizon: its writer had not seen what is compacted here; `syncd return` takes the "
                        + "content of a peer that has merged it")
            }
            if let cause { parts.append("built on changes of \(OriginID(hex: cause)?.short ?? cause)") }
            if let since { parts.append("since \(since)") }
        }
        if allowed > 0 { parts.append("accepted up to \(ConsoleText.duration(allowed)) ahead") }
        return parts.joined(separator: ", ")
    }
}

/// The output of `syncd clock accept` and `reset` for one origin.
struct ClockDecisionLine: Sendable {
    let origin: OriginID
    let action: ClockCommand.Action
    /// How far ahead its changes may lie after the command.
    let allowedMilliseconds: Int64

    var json: JSONValue {
        .object([
            "origin": .string(origin.description),
            "action": .string(action.rawValue),
            "allowed_ms": .integer(allowedMilliseconds),
        ])
    }

    var text: String {
        action == .accept
            ? "Changes of \(origin) are accepted from now on; the next exchange brings them."
            : "Forgot which changes of \(origin) were held back or accepted."
    }
}

/// The output of `syncd clock repair`.
struct ClockRepairLine: Sendable {
    /// The replica's identity after the repair.
    let origin: OriginID
    /// nil when there was nothing to repair.
    let outcome: ClockRepair.Outcome?

    var json: JSONValue {
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
            \(ConsoleText.count(outcome.reissued, "change")) got the present time.
            This is replica \(outcome.new) from now on; it was \(outcome.old).
            """
    }
}

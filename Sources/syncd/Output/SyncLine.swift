import Journal
import Sync

// An exchange with one peer, in the output of `syncd sync`.

extension SyncReport {
    /// `pulled 3 changes (412 bytes), pushed 1 change (98 bytes), 1 conflict`
    var summary: String {
        var parts = [
            "pulled \(ConsoleText.count(pulledChanges, "change")) (\(ConsoleText.count(pulledBytes, "byte")))",
            "pushed \(ConsoleText.count(pushedChanges, "change")) (\(ConsoleText.count(pushedBytes, "byte")))",
        ]
        if conflicts > 0 { parts.append(ConsoleText.count(conflicts, "conflict")) }
        return parts.joined(separator: ", ")
    }

    /// Sentences about what needs attention: differences, changes that are held back, dropped conflicts.
    var notes: [String] {
        var notes: [String] = []
        for mismatch in mismatches {
            notes.append(
                "Different although both know the same changes: \(mismatch.summary). Run syncd verify --repair.")
        }
        if !heldBackHere.isEmpty {
            notes.append("Held back here: changes of \(SyncReport.names(heldBackHere)). `syncd clock` says why.")
        }
        if !heldBackThere.isEmpty {
            notes.append(
                "Held back there: changes of \(SyncReport.names(heldBackThere)). `syncd clock` on that machine says why."
            )
        }
        if droppedConflicts > 0 {
            notes.append("The ledger dropped \(ConsoleText.count(droppedConflicts, "conflict")) beyond its limits.")
        }
        return notes
    }

    private static func names(_ vector: VersionVector) -> String {
        vector.entries.map(\.origin.short).joined(separator: ", ")
    }
}

extension SyncReport {
    /// - Parameter peer: The peer as named on the command line.
    func json(peer: String) -> JSONValue {
        .object([
            "peer": .string(peer),
            "origin": .string(self.peer.description),
            "pulled_changes": .integer(Int64(pulledChanges)),
            "pulled_bytes": .integer(Int64(pulledBytes)),
            "pushed_changes": .integer(Int64(pushedChanges)),
            "pushed_bytes": .integer(Int64(pushedBytes)),
            "conflicts": .integer(Int64(conflicts)),
            "conflicts_dropped": .integer(Int64(droppedConflicts)),
            "held_back_here": .vector(heldBackHere),
            "held_back_there": .vector(heldBackThere),
            "mismatches": .array(mismatches.map(\.json)),
            "error": .null,
        ])
    }
}

extension Failure {
    /// The line for a peer with which the exchange failed.
    func json(peer: String, code: SyncError.Code) -> JSONValue {
        .object([
            "peer": .string(peer),
            "error": .object(["code": .string(code.name), "message": .string(message), "hint": .string(hint)]),
        ])
    }
}

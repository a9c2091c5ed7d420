import Logging

/// What the lines of the log are about. The names are stable; docs/OPERATIONS.md lists them.
package enum SyncEvent: String, Sendable, CaseIterable {
    case peerFailed = "peer.failed"
    case peerRecovered = "peer.recovered"
    case peerClock = "peer.clock"
    case peerExposed = "peer.exposed"
    case peerNotesFailed = "peer.notes_failed"
    case contentDiffers = "content.differs"
    case recaptured = "content.recaptured"
    case comparisonFailed = "content.comparison_failed"
    case clockAhead = "clock.ahead"
    case journalUnreadable = "journal.unreadable"
    case sweepFailed = "sweep.failed"
    case returned = "replica.returned"
    case returnFailed = "replica.return_failed"
    case compacted = "journal.compacted"
    case compactionFailed = "journal.compaction_failed"
    case archived = "archive.snapshot"
    case archiveFailed = "archive.snapshot_failed"
    case archiveCollected = "archive.collected"
    case archiveCollectionFailed = "archive.collection_failed"
    case archiveLost = "archive.lost"
    case archiveCrowded = "archive.crowded"
    case hubFailed = "hub.failed"
    case hubRecovered = "hub.recovered"
    /// What happens while changes are taken in: a new identity, conflicts that the ledger drops, changes that
    /// wait for a clock.
    case intake = "intake"

    /// How serious it is.
    package var level: Logger.Level {
        switch self {
        case .contentDiffers: .error
        case .peerRecovered, .compacted, .archived, .archiveCollected, .hubRecovered: .info
        case .recaptured, .returned, .returnFailed, .peerFailed, .peerClock, .peerExposed, .peerNotesFailed,
            .comparisonFailed,
            .clockAhead,
            .journalUnreadable, .sweepFailed, .compactionFailed, .archiveFailed, .archiveCollectionFailed, .archiveLost,
            .archiveCrowded, .hubFailed,
            .intake:
            .warning
        }
    }
}

extension Logger {
    /// The key of the metadata that has the name of the event.
    package static let eventKey = "event"

    /// Logs what has happened, with the name of its event.
    func log(
        _ event: SyncEvent, _ message: @autoclosure () -> Logger.Message, peer: String? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        var metadata: Logger.Metadata = [Logger.eventKey: "\(event.rawValue)"]
        if let peer { metadata["peer"] = "\(peer)" }
        log(level: event.level, message(), metadata: metadata, file: file, function: function, line: line)
    }

    /// This logger, whose lines are about `event` unless they say otherwise.
    func about(_ event: SyncEvent) -> Logger {
        var logger = self
        logger[metadataKey: Logger.eventKey] = "\(event.rawValue)"
        return logger
    }
}

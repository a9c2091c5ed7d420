import Journal

/// Takes the frames of one stream into the inbox. A frame whose ranges of versions are known here is skipped
/// unread.
///
/// The frames of a stream come one after another: the next call begins when the one before has returned.
actor FrameIntake {
    let inbox: Inbox
    let limits: Limits

    /// The result of the frames so far.
    struct Tally: Sendable, Hashable {
        var frames = 0
        var skippedFrames = 0
        var bytes = 0
        var applied = 0
        var duplicates = 0
        var conflicts = 0
        var staged = 0
        var droppedConflicts = 0
        var isDeferred = false
    }

    private(set) var tally = Tally()

    /// What this replica had after the last frame.
    private var have: VersionVector?

    /// True once this stream has caused a new identity. A stream can cause only one.
    private var hasRekeyed = false

    init(inbox: Inbox, limits: Limits) {
        self.inbox = inbox
        self.limits = limits
    }

    /// Takes one frame.
    ///
    /// - Throws: ``SyncError``; nothing of the frame is applied then.
    func take(_ frame: Frame) async throws {
        let known: VersionVector
        if let have { known = have } else { known = try await blocking { [inbox] in try inbox.have() } }
        tally.frames += 1
        tally.bytes += frame.payload.count
        guard !frame.isKnown(to: known) else {
            have = known
            tally.skippedFrames += 1
            return
        }
        let (report, after, rekeyed) = try await blocking { [inbox, limits, hasRekeyed] in
            let batch: ChangeBatch
            do throws(WireError) {
                batch = try frame.batch(limits: limits)
            } catch {
                throw SyncError(error)
            }
            do {
                return (try inbox.receive(batch), try inbox.have(), false)
            } catch let error as SyncError where error.code == .fork && !hasRekeyed {
                let own = try inbox.replica.identity().origin
                guard try inbox.weigh(HistoryEvidence(batch, of: own)) != nil else { throw error }
                return (try inbox.receive(batch), try inbox.have(), true)
            }
        }
        if rekeyed { hasRekeyed = true }
        have = after
        count(report)
    }

    /// Applies staged transactions that the sender proves to be complete. Call it at the end of the stream.
    ///
    /// - Parameter theirs: What the sender knows.
    func finish(theirs: VersionVector) async throws {
        count(try await blocking { [inbox] in try inbox.finishUnfinished(knownTo: theirs) })
    }

    private func count(_ report: ReceiveReport) {
        tally.applied += report.applied
        tally.duplicates += report.duplicates
        tally.conflicts += report.conflicts
        tally.staged += report.staged
        tally.droppedConflicts += report.droppedConflicts
        if report.isDeferred { tally.isDeferred = true }
    }
}

import GRDB
import Journal
import Logging
import Synchronization

extension Inbox {
    /// Takes a new identity if this file is not the one for which its origin was created. Cheap when nothing
    /// is wrong.
    ///
    /// Called when a file is opened for exchange and before each exchange.
    ///
    /// - Throws: ``SyncError/Code/fork`` when the file has taken too many new identities; errors of the file.
    @discardableResult
    package func ensureOwnIdentity() throws -> NewIdentity.Outcome? {
        guard let evidence = try keeper.evidence(time: now) else { return nil }
        return try rekey(evidence)
    }

    /// Takes a new identity if the evidence of a peer contradicts this replica's history.
    ///
    /// - Returns: nil when there is no contradiction.
    /// - Throws: ``SyncError/Code/fork`` when the replica has taken too many new identities.
    func weigh(_ claim: HistoryEvidence, reason: NewIdentity.Reason? = nil) throws -> NewIdentity.Outcome? {
        guard claim.version > 0 || !claim.samples.isEmpty else { return nil }
        let (origin, judgement) = try replica.read { db in
            let reader = try JournalReader(db)
            let origin = reader.identity.origin
            return (
                origin,
                try claim.judge(head: reader.vector()[origin]) { try reader.digest(of: origin, version: $0) }
            )
        }
        let found: NewIdentity.Reason
        switch judgement.verdict {
        case .consistent: return nil
        case .outrun: found = .outrun
        case .contradicted: found = .contradicted
        }
        return try rekey(
            NewIdentity(
                reason ?? found, of: origin, shared: judgement.shared, mostKept: judgement.mostKept, time: now))
    }

    /// Takes a new identity because a peer has the current one.
    ///
    /// - Parameter claim: What the peer holds of the history that both have.
    func giveWay(to claim: HistoryEvidence, from origin: OriginID) throws -> NewIdentity.Outcome? {
        let judgement = try replica.read { db in
            let reader = try JournalReader(db)
            return try claim.judge(head: reader.vector()[origin]) { try reader.digest(of: origin, version: $0) }
        }
        return try rekey(
            NewIdentity(.cloned, of: origin, shared: judgement.shared, mostKept: judgement.mostKept, time: now))
    }

    /// Takes a new identity because an operator asked for it.
    ///
    /// There is no limit on how often, and no daemon needs to be stopped.
    ///
    /// - Returns: nil when another process has given the file a new identity meanwhile.
    /// - Throws: ``JournalError`` and errors of SQLite, after a rollback; ``JournalError/Code/readOnly`` when
    ///   the publication record cannot be written. The file has its new identity then, and nothing is sent
    ///   under it before the record can be written.
    package func rekey() throws -> NewIdentity.Outcome? {
        try rekey(NewIdentity(.manual, of: replica.identity().origin, time: now))
    }

    /// The last new identity that this process gave the file.
    package var lastRekey: NewIdentity.Outcome? { keeper.lastRekey }

    private var now: Double { Double(wallClock().milliseconds) / 1_000 }

    private func rekey(_ request: NewIdentity) throws -> NewIdentity.Outcome? {
        try replica.refreshDerivedState()
        let sharedByRecord = try keeper.sharedByRecord(request.origin)
        let outcome = try session.withLock { box in
            // The session's state names changes by the old origin.
            box = SessionBox()
            return try box.attempt { box in
                try connection.write { db -> NewIdentity.Outcome? in
                    if request.reason != .manual { try checkFrequency(request, db) }
                    try peers.write(to: db)
                    let confirmed = try PeerTable.all(db).map { $0.confirmed[request.origin] }.max() ?? 0
                    var request = request
                    request.shared = max(request.shared, confirmed, sharedByRecord)
                    guard let outcome = try request.run(db, fingerprint: keeper.fingerprint) else { return nil }
                    try RenamedInserts(outcome: outcome, domains: ApplySession(db).domains).run(db)
                    // The key of a row that lost a contested one depends on the name of its insert, so it
                    // changes with the origin. In one transaction: who knows the new names has the new keys.
                    _ = try current(&box, db)
                    return outcome
                }
            }
        }
        guard let outcome else { return nil }
        try keeper.note(outcome)
        logger?.warning("\(outcome.sentence)")
        return outcome
    }

    /// Refuses a new identity when there were too many within a day. A peer may lie, a file system may reuse
    /// inodes at will, and each new origin stays in every vector for ever.
    private func checkFrequency(_ request: NewIdentity, _ db: Database) throws {
        let recent = try NewIdentity.times(db).filter { $0 > request.time - 86_400 }
        guard recent.count < limits.rekeysPerDay else {
            throw SyncError(
                .fork,
                "\(request.reason.sentence); the replica has taken \(recent.count) new identities within a day already",
                hint:
                    "Find out which machine or peer has a copy of this file; `syncd rekey` takes a new identity by hand."
            )
        }
    }
}

extension NewIdentity.Reason {
    /// What was found, as a sentence.
    var sentence: String {
        switch self {
        case .copied: "The file is a copy of the one for which its identity was taken"
        case .rolledBack: "The file is older than what was sent from here before: it was restored from a backup"
        case .outrun: "A peer holds changes of this replica that are not in its file: it was restored from a backup"
        case .contradicted:
            "A peer holds other changes under the same versions of this replica: there is a copy of its file"
        case .cloned: "A peer has the identity of this replica: one file is a copy of the other"
        case .manual: "A new identity was asked for"
        case .created: "The file was made from a snapshot of another replica"
        case .restored: "The file was made from a backup"
        case .returned: "The replica was away for longer than its lease, and has the content of another one now"
        }
    }
}

extension NewIdentity.Outcome {
    /// The outcome in one sentence, for people and logs.
    package var sentence: String {
        "\(reason.sentence). This replica is \(new) from now on; \(kept) changes stay those of \(old), "
            + "\(reissued) are sent under the new identity"
    }
}

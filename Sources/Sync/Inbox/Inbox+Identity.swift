import GRDB
import Journal
import Logging
import Synchronization

extension Inbox {
    /// Takes a new name if the file is not the one for which the present one was taken. Cheap when nothing is
    /// wrong.
    ///
    /// Called when a file is opened for exchange and before each exchange.
    ///
    /// - Throws: ``SyncError/Code/fork`` when the file changes its name too often to be believed; errors of
    ///   the file.
    @discardableResult
    public func ensureOwnIdentity() throws -> NewIdentity.Outcome? {
        guard let evidence = try keeper.evidence(time: now) else { return nil }
        return try rekey(evidence)
    }

    /// Takes a new name if what somebody says of this replica's history cannot be its history.
    ///
    /// - Returns: nil when there is no contradiction.
    /// - Throws: ``SyncError/Code/fork`` when the replica was made to change its name too often already.
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

    /// Takes a new name because a peer bears the present one.
    ///
    /// - Parameter claim: What the peer says of the history that both have.
    func giveWay(to claim: HistoryEvidence, from origin: OriginID) throws -> NewIdentity.Outcome? {
        let judgement = try replica.read { db in
            let reader = try JournalReader(db)
            return try claim.judge(head: reader.vector()[origin]) { try reader.digest(of: origin, version: $0) }
        }
        return try rekey(
            NewIdentity(.cloned, of: origin, shared: judgement.shared, mostKept: judgement.mostKept, time: now))
    }

    /// Takes a new name because an operator asked for it.
    ///
    /// However often that was done before; no daemon needs to be stopped.
    ///
    /// - Returns: nil when another process has given it a new name meanwhile.
    /// - Throws: ``JournalError`` and errors of SQLite, after a rollback; ``JournalError/Code/readOnly`` when
    ///   the record beside the file cannot be written: the file has its new name then, and nothing is sent
    ///   under it before the record can be.
    public func rekey() throws -> NewIdentity.Outcome? {
        try rekey(NewIdentity(.manual, of: replica.identity().origin, time: now))
    }

    /// The last new name that this process gave the file.
    public var lastRekey: NewIdentity.Outcome? { keeper.lastRekey }

    private var now: Double { Double(wallClock().milliseconds) / 1_000 }

    private func rekey(_ request: NewIdentity) throws -> NewIdentity.Outcome? {
        try replica.refreshDerivedState()
        let sharedByRecord = try keeper.sharedByRecord(request.origin)
        let outcome = try session.withLock { box in
            let outcome = try replica.write { db in
                if request.reason != .manual { try checkFrequency(request, db) }
                let confirmed = try PeerTable.all(db).map { $0.confirmed[request.origin] }.max() ?? 0
                var request = request
                request.shared = max(request.shared, confirmed, sharedByRecord)
                return try request.run(db, fingerprint: keeper.fingerprint)
            }
            // What was looked at before names changes as they are not named any more.
            box = SessionBox()
            return outcome
        }
        guard let outcome else { return nil }
        try keeper.note(outcome)
        logger?.warning("\(outcome.sentence)")
        return outcome
    }

    /// A peer may lie, and a file system may give out inodes as it likes. Each new name stays in everybody's
    /// vector for ever.
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
    /// What was found.
    var sentence: String {
        switch self {
        case .copied: "The file is a copy of the one for which its identity was taken"
        case .rolledBack: "The file is older than what was sent from here before: it was restored from a backup"
        case .outrun: "A peer holds changes of this replica that are not in its file: it was restored from a backup"
        case .contradicted:
            "A peer holds other changes under the same versions of this replica: there is a copy of its file"
        case .cloned: "A peer has the identity of this replica: one file is a copy of the other"
        case .manual: "A new identity was asked for"
        }
    }
}

extension NewIdentity.Outcome {
    /// For people and logs.
    public var sentence: String {
        "\(reason.sentence). This replica is \(new) from now on; \(kept) changes stay those of \(old), "
            + "\(reissued) are sent under the new identity"
    }
}

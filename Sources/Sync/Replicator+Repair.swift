import Journal

extension Replicator {
    /// Repairs the rows in which this replica and `peer` differ although both know the same changes; see
    /// `ContentRepair`.
    ///
    /// Where the peer's file is on this machine, it is repaired by the same rule.
    ///
    /// - Parameters:
    ///   - peer: The peer to compare with.
    ///   - rule: What is right where a row differs from its own file's journal.
    ///   - onProgress: Called at the start of each table and after each range of rows that was compared.
    /// - Throws: ``SyncError/Code/failed`` when the two do not know the same changes, so that a difference is
    ///   not damage; ``SyncError/Code/busy`` when this replica changed during the repair. Rounds that were
    ///   finished before stay applied.
    public func repair(
        _ peer: PeerConfiguration, _ rule: RepairRule = .keepRows,
        onProgress: @escaping @Sendable (VerifyProgress) -> Void = { _ in }
    ) async throws -> RepairReport {
        try await SyncError.wrapping {
            let session = try await self.session(with: peer)
            _ = try await session.greet()
            let verification = Verification(
                replica: self.replica, transport: session.transport, limits: self.limits, onProgress: onProgress)
            var report = RepairReport(after: try await verification.run())
            while true {
                let found = report.after
                guard found.ours == found.theirs else {
                    throw SyncError(
                        .failed,
                        "\(peer.name) and this replica do not know the same changes, so a difference is not damage",
                        hint: "Exchange the missing changes first with `syncd sync`, then verify again.")
                }
                guard found.differs else {
                    try await self.endAlarm(with: session)
                    return report
                }
                let local = (session.transport as? PatientTransport)?.base as? LocalTransport
                report = try await blocking { [inbox = self.inbox, report] in
                    var report = report
                    try inbox.repair(found, rule, into: &report)
                    if rule == .keepRows, let theirs = local?.endpoint.inbox {
                        var other = RepairReport(after: found)
                        try theirs.repair(found, rule, .different, into: &other)
                        report.capturedThere += other.captured
                        report.leftThere = max(report.leftThere - other.captured, 0)
                    }
                    return report
                }
                // The exchange brings them to the peer as ordinary changes.
                _ = try await session.exchange()
                report.after = try await verification.run()
                if !report.after.differs {
                    if report.after.ours == report.after.theirs { try await self.endAlarm(with: session) }
                    return report
                }
                // A report lists a limited number of differences. Another round helps only when the list was
                // cut and this round repaired something.
                let isCut = found.tables.contains { $0.differences.count >= self.limits.listedDifferences }
                guard isCut, report.after.differenceCount < found.differenceCount else { return report }
            }
        }
    }

    /// Clears the mismatch that an earlier comparison recorded, because the two replicas now hold the same
    /// content.
    private func endAlarm(with session: SyncSession) async throws {
        let now = clock.wallMilliseconds()
        try await blocking { [inbox] in
            try inbox.peers.record(comparisonWith: session.transport.name, [], milliseconds: now)
        }
    }
}

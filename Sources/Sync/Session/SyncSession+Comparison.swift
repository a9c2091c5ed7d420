import Journal

extension SyncSession {
    /// How an attempt to compare the content ended.
    enum Comparison: Sendable, Hashable {
        /// None was due, or the two do not know the same changes now.
        case none
        /// Rows that programs wrote past capture became changes. Nothing is recorded: once they are exchanged, the
        /// comparison is to be made again.
        case recaptured
        /// The tables that differ.
        case done([ContentMismatch])
    }

    /// Adds the result of a comparison of the content, if one is due. A comparison that fails does not fail
    /// the exchange.
    func compared(_ report: inout SyncReport, recaptures: Bool) async -> Comparison {
        do {
            let comparison = try await compareIfDue(recaptures: recaptures)
            if case .done(let mismatches) = comparison { report.mismatches = mismatches }
            return comparison
        } catch {
            inbox.logger?.log(
                .comparisonFailed,
                "The content could not be compared with \(transport.name): \(SyncError(wrapping: error))",
                peer: transport.name)
            return .none
        }
    }

    /// Compares the whole content if the last comparison is old enough, and records the result, also in the
    /// log.
    ///
    /// - Parameter recaptures: True to take what programs wrote past capture as changes, if the limits say so.
    ///   False after it was done, so that a row that differs again is reported.
    func compareIfDue(recaptures: Bool) async throws -> Comparison {
        guard transport.holdsRows else { return .none }
        let now = clock.wallMilliseconds()
        let last = try await blocking { [inbox, transport] in try inbox.peers.lastComparison(with: transport.name) }
        // A comparison is also due when the clock was set back.
        if let last, (0..<limits.comparisonIntervalMilliseconds).contains(now - last) { return .none }
        guard let mismatches = try await ContentProof(inbox: inbox, transport: transport, limits: limits).run() else {
            return .none
        }
        if recaptures, limits.recapturesByItself, !mismatches.isEmpty {
            let capture = PastCapture(inbox: inbox, transport: transport, limits: limits)
            if try await capture.run(in: Set(mismatches.map(\.table))).hasNews { return .recaptured }
        }
        try await blocking { [inbox, transport] in
            try inbox.peers.record(comparisonWith: transport.name, mismatches, milliseconds: now)
        }
        for mismatch in mismatches {
            inbox.logger?.log(
                .contentDiffers,
                "\(transport.name) holds other rows although both know the same changes: \(mismatch.summary). Run `syncd verify --repair`",
                peer: transport.name)
        }
        return .done(mismatches)
    }
}

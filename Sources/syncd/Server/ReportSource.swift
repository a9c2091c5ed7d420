import Journal
import Sync

/// Makes status reports of a running daemon.
struct ReportSource: Sendable {
    let replica: Replica
    let replicator: Replicator
    let reloader: any Reloader

    /// Returns the status of this moment.
    ///
    /// - Parameters:
    ///   - countingRows: False for what is asked often: counting reads each table from end to end.
    ///   - isSample: As for ``StatusReport``.
    /// - Throws: Errors of the file.
    func report(countingRows: Bool, isSample: Bool = false) async throws -> StatusReport {
        let refusal = reloader.refusal
        return try await blocking { [replica, replicator] in
            var report = try StatusReport(
                replica, countingRows: countingRows, live: replicator.status(),
                lease: replicator.inbox.limits.leaseMilliseconds, isSample: isSample)
            report.configurationRefused = refusal
            let directions = replicator.directions
            for index in report.peers.indices {
                let direction = directions[report.peers[index].url] ?? .both
                report.peers[index].direction = direction
                // What it lacks does not come from here.
                if direction == .pull { report.peers[index].lag = nil }
            }
            report.followers = replicator.endpoint.pulls.waiting
            return report
        }
    }
}
